/// A status of the DNS-SD interfaces: 0 (``kDNSServiceErr_NoError``) or a negative number.
public typealias DNSServiceErrorType = Int32

// The constants are `Int` although the codes have 32 bits, because Swift imports Apple's header that way. Programs that
// compare, convert or switch over the constants then compile unchanged.

/// Success.
public let kDNSServiceErr_NoError: Int = 0
/// An unknown error.
public let kDNSServiceErr_Unknown: Int = -65537
/// The name does not exist.
public let kDNSServiceErr_NoSuchName: Int = -65538
/// Out of memory.
public let kDNSServiceErr_NoMemory: Int = -65539
/// Invalid argument.
public let kDNSServiceErr_BadParam: Int = -65540
/// Invalid reference: the operation does not belong to this client.
public let kDNSServiceErr_BadReference: Int = -65541
/// The operation is in a state that does not allow the call.
public let kDNSServiceErr_BadState: Int = -65542
/// Invalid flags or combination of flags.
public let kDNSServiceErr_BadFlags: Int = -65543
/// The operation is not supported.
public let kDNSServiceErr_Unsupported: Int = -65544
/// The operation was not started.
public let kDNSServiceErr_NotInitialized: Int = -65545
/// This client has already registered the service.
public let kDNSServiceErr_AlreadyRegistered: Int = -65547
/// The name is in use by another host.
public let kDNSServiceErr_NameConflict: Int = -65548
/// The record or the request is malformed.
public let kDNSServiceErr_Invalid: Int = -65549
/// A firewall prevents the operation.
public let kDNSServiceErr_Firewall: Int = -65550
/// The versions of client and responder are incompatible.
public let kDNSServiceErr_Incompatible: Int = -65551
/// No interface has this index.
public let kDNSServiceErr_BadInterfaceIndex: Int = -65552
/// The server refused the request.
public let kDNSServiceErr_Refused: Int = -65553
/// The name has no record of that type.
public let kDNSServiceErr_NoSuchRecord: Int = -65554
/// The program lacks a required permission.
public let kDNSServiceErr_NoAuth: Int = -65555
/// The TXT record has no such key.
public let kDNSServiceErr_NoSuchKey: Int = -65556
/// The gateway failed to create the port mapping.
public let kDNSServiceErr_NATTraversal: Int = -65557
/// There are several NAT gateways in series.
public let kDNSServiceErr_DoubleNAT: Int = -65558
/// The signer's clock and the verifier's clock differ too much.
public let kDNSServiceErr_BadTime: Int = -65559
/// Invalid signature.
public let kDNSServiceErr_BadSig: Int = -65560
/// Invalid key.
public let kDNSServiceErr_BadKey: Int = -65561
/// A temporary error.
public let kDNSServiceErr_Transient: Int = -65562
/// No responder is running.
public let kDNSServiceErr_ServiceNotRunning: Int = -65563
/// The gateway supports no port mapping protocol.
public let kDNSServiceErr_NATPortMappingUnsupported: Int = -65564
/// Port mapping is disabled in the gateway.
public let kDNSServiceErr_NATPortMappingDisabled: Int = -65565
/// There is no gateway.
public let kDNSServiceErr_NoRouter: Int = -65566
/// The responder stopped answering.
public let kDNSServiceErr_PollingMode: Int = -65567
/// The operation timed out.
public let kDNSServiceErr_Timeout: Int = -65568
/// The connection to the responder was lost.
public let kDNSServiceErr_DefunctConnection: Int = -65569
/// A policy of this host prohibits the operation.
public let kDNSServiceErr_PolicyDenied: Int = -65570
/// The operation is not permitted.
public let kDNSServiceErr_NotPermitted: Int = -65571
/// The data has exceeded its lifetime.
public let kDNSServiceErr_StaleData: Int = -65572

/// The names of the error codes, without the prefix `kDNSServiceErr_`.
enum DNSServiceErrorName {
    static let table: [DNSServiceErrorType: String] = [
        0: "NoError",
        -65537: "Unknown",
        -65538: "NoSuchName",
        -65539: "NoMemory",
        -65540: "BadParam",
        -65541: "BadReference",
        -65542: "BadState",
        -65543: "BadFlags",
        -65544: "Unsupported",
        -65545: "NotInitialized",
        -65547: "AlreadyRegistered",
        -65548: "NameConflict",
        -65549: "Invalid",
        -65550: "Firewall",
        -65551: "Incompatible",
        -65552: "BadInterfaceIndex",
        -65553: "Refused",
        -65554: "NoSuchRecord",
        -65555: "NoAuth",
        -65556: "NoSuchKey",
        -65557: "NATTraversal",
        -65558: "DoubleNAT",
        -65559: "BadTime",
        -65560: "BadSig",
        -65561: "BadKey",
        -65562: "Transient",
        -65563: "ServiceNotRunning",
        -65564: "NATPortMappingUnsupported",
        -65565: "NATPortMappingDisabled",
        -65566: "NoRouter",
        -65567: "PollingMode",
        -65568: "Timeout",
        -65569: "DefunctConnection",
        -65570: "PolicyDenied",
        -65571: "NotPermitted",
        -65572: "StaleData",
    ]
}
