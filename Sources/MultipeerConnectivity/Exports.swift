// Sources for Apple platforms import this module alone and use Foundation's types, and the types of certificates in `didReceiveCertificate`.
@_exported public import Foundation
@_exported public import class Causeway.SecCertificate
@_exported public import class Causeway.SecIdentity
@_exported public import class Causeway.SecTrust
