"""How do the published tests compare, on data with a known truth and on real data?"""
