"""Training the small model that ships with midfill, from packages to weights.

    sources, cleaning -> corpus -> shards -> windows, holes -> canvases      text to examples
    weights, network, loss, drafts -> objective                              examples to losses
    optimise, device, state -> run                                           losses to weights
    fills, report                                                            what came of it
    build, cli                                                               commands

Nothing else in the engine imports this package.
"""
