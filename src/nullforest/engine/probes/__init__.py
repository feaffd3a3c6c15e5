"""Virtual probes: columns of random ranks that are scored at nodes but never split one."""
