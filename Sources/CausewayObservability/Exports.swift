// Observers belong to the configuration of a `URLSession`, which is a type of CausewayURLLoading.
@_exported public import CausewayURLLoading
