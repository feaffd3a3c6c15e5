"""Files of genomics: AnnData, 10x, PLINK, VCF and gene sets."""
