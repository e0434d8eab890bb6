"""SGLang's pools: one file a link of the configurator chain, and the states and buffers beside them."""
