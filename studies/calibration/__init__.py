"""Does each null keep its promise? False positives reached, divided by those asked for."""
