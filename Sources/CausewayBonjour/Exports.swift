// Endpoints, interfaces, TXT records and errors are types of Causeway.
@_exported public import Causeway
