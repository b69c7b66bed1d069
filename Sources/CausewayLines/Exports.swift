// Connections, endpoints, parameters and errors are types of Causeway.
@_exported public import Causeway
