"""SGLang's start-up rules: one rule set per version, and the steps that apply it."""
