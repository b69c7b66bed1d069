// Re-export Foundation and the certificate types. Programs for Apple platforms import only this module, but they use
// Foundation types, and certificate types in `didReceiveCertificate`.
@_exported public import Foundation
@_exported public import class Causeway.SecCertificate
@_exported public import class Causeway.SecIdentity
@_exported public import class Causeway.SecTrust
