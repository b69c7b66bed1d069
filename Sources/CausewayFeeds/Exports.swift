// The values and the parser of feeds are in another module, which needs no network.
@_exported public import CausewayFeedFormats
