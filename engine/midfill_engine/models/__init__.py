"""The models behind the denoising loop, one file per family, and what they share."""
