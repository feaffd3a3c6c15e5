"""Features taken together: groups, correlated features, interactions, geometry."""
