"""The commands behind `midfill`, one module each; `cli` imports only the one that was asked for."""
