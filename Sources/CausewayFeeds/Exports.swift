// The feed values and the parser are in another module, which needs no network.
@_exported public import CausewayMarkup
