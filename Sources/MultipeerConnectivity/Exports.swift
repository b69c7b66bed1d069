// Programs for Apple platforms import only this module, and use Foundation types as well as certificate types in `didReceiveCertificate`.
@_exported public import Foundation
@_exported public import class Causeway.SecCertificate
@_exported public import class Causeway.SecIdentity
@_exported public import class Causeway.SecTrust
