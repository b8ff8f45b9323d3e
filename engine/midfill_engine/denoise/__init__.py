"""Denoising: from a canvas whose slots are noise to tokens.

Pure mathematics on tensors: what a model is, where tokens come from and what text they make is known elsewhere.

    loop ── asks ──> Denoiser (a model)            one pass: logits of the slots
         ├─ constraint                             which tokens a slot may hold at all
         ├─ schedule                               the step's temperature
         ├─ accept, length                         which slots are locked
         ├─ noise                                  what the others get instead
         └─ stop                                   whether a row is done
"""
