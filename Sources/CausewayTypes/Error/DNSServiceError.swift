/// A status of the DNS-SD interfaces: 0 (``kDNSServiceErr_NoError``) or a negative number.
public typealias DNSServiceErrorType = Int32

// The constants are `Int`, although the codes are 32 bits wide: that is how Apple's header arrives in Swift, and
// programs written for it compare, convert and switch accordingly.

/// Success.
public let kDNSServiceErr_NoError: Int = 0
/// Something went wrong that has no better number.
public let kDNSServiceErr_Unknown: Int = -65537
/// The name does not exist.
public let kDNSServiceErr_NoSuchName: Int = -65538
/// Out of memory.
public let kDNSServiceErr_NoMemory: Int = -65539
/// An argument is not acceptable.
public let kDNSServiceErr_BadParam: Int = -65540
/// The operation is not one of this client's.
public let kDNSServiceErr_BadReference: Int = -65541
/// The call does not fit the state of the operation.
public let kDNSServiceErr_BadState: Int = -65542
/// The flags contradict each other or the call.
public let kDNSServiceErr_BadFlags: Int = -65543
/// The operation is not supported.
public let kDNSServiceErr_Unsupported: Int = -65544
/// The operation was never started.
public let kDNSServiceErr_NotInitialized: Int = -65545
/// This client has registered the service already.
public let kDNSServiceErr_AlreadyRegistered: Int = -65547
/// The name is in use by another host.
public let kDNSServiceErr_NameConflict: Int = -65548
/// The record or the request is malformed.
public let kDNSServiceErr_Invalid: Int = -65549
/// A firewall stood in the way.
public let kDNSServiceErr_Firewall: Int = -65550
/// The client and the responder are of different versions.
public let kDNSServiceErr_Incompatible: Int = -65551
/// There is no interface of that index.
public let kDNSServiceErr_BadInterfaceIndex: Int = -65552
/// The server refused.
public let kDNSServiceErr_Refused: Int = -65553
/// The name has no record of that type.
public let kDNSServiceErr_NoSuchRecord: Int = -65554
/// The program lacks a permission that the operation needs.
public let kDNSServiceErr_NoAuth: Int = -65555
/// The TXT record has no such key.
public let kDNSServiceErr_NoSuchKey: Int = -65556
/// The gateway did not make the port mapping.
public let kDNSServiceErr_NATTraversal: Int = -65557
/// There is more than one gateway in a row.
public let kDNSServiceErr_DoubleNAT: Int = -65558
/// The clocks of signer and verifier differ too much.
public let kDNSServiceErr_BadTime: Int = -65559
/// The signature is wrong.
public let kDNSServiceErr_BadSig: Int = -65560
/// The key is wrong.
public let kDNSServiceErr_BadKey: Int = -65561
/// A failure that may pass.
public let kDNSServiceErr_Transient: Int = -65562
/// No responder is running.
public let kDNSServiceErr_ServiceNotRunning: Int = -65563
/// The gateway knows no protocol for port mappings.
public let kDNSServiceErr_NATPortMappingUnsupported: Int = -65564
/// The gateway has port mappings switched off.
public let kDNSServiceErr_NATPortMappingDisabled: Int = -65565
/// There is no gateway.
public let kDNSServiceErr_NoRouter: Int = -65566
/// The responder has stopped answering.
public let kDNSServiceErr_PollingMode: Int = -65567
/// The time allowed has passed.
public let kDNSServiceErr_Timeout: Int = -65568
/// The connection to the responder is gone.
public let kDNSServiceErr_DefunctConnection: Int = -65569
/// A policy of this host forbids the operation.
public let kDNSServiceErr_PolicyDenied: Int = -65570
/// The operation is not permitted.
public let kDNSServiceErr_NotPermitted: Int = -65571
/// The data is older than its lifetime.
public let kDNSServiceErr_StaleData: Int = -65572

/// What each code is called, without the prefix.
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
