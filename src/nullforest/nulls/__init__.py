"""How does a feature behave that means nothing? One module per answer."""
