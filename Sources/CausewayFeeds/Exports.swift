// Programs that import this module also get the feed values and the feed parser. These are in a separate module,
// because they need no network.
@_exported public import CausewayMarkup
// A reader fetches with a `URLSession`, which is a type of CausewayURLLoading.
@_exported public import CausewayURLLoading
