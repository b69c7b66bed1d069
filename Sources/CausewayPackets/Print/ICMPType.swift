/// ICMP message types (IANA registry "ICMP Type Numbers").
enum ICMPType {
    static let echoReply: UInt8 = 0
    static let destinationUnreachable: UInt8 = 3
    static let sourceQuench: UInt8 = 4
    static let redirect: UInt8 = 5
    static let echoRequest: UInt8 = 8
    static let routerAdvertisement: UInt8 = 9
    static let routerSolicitation: UInt8 = 10
    static let timeExceeded: UInt8 = 11
    static let parameterProblem: UInt8 = 12
    static let timestamp: UInt8 = 13
    static let timestampReply: UInt8 = 14
    static let informationRequest: UInt8 = 15
    static let informationReply: UInt8 = 16
    static let addressMaskRequest: UInt8 = 17
    static let addressMaskReply: UInt8 = 18
    static let extendedEchoRequest: UInt8 = 42
    static let extendedEchoReply: UInt8 = 43
}

/// ICMP error message codes (IANA registry "ICMP Type Numbers", code fields).
enum ICMPCode {
    // Codes for `ICMPType/destinationUnreachable` (RFC 792).
    static let protocolUnreachable: UInt8 = 2
    static let portUnreachable: UInt8 = 3
    static let fragmentationNeeded: UInt8 = 4
    // The first `ICMPType/redirect` code that applies to only one type of service (RFC 792).
    static let redirectTypeOfServiceNetwork: UInt8 = 2
    // Codes for `ICMPType/timeExceeded` (RFC 792).
    static let timeToLiveExceeded: UInt8 = 0
    static let reassemblyTimeExceeded: UInt8 = 1
    // A code for `ICMPType/parameterProblem`: the message contains a pointer to the error (RFC 792).
    static let pointer: UInt8 = 0
}

/// ICMPv6 message types (IANA registry "ICMPv6 'type' Numbers").
enum ICMP6Type {
    static let destinationUnreachable: UInt8 = 1
    static let packetTooBig: UInt8 = 2
    static let timeExceeded: UInt8 = 3
    static let parameterProblem: UInt8 = 4
    static let echoRequest: UInt8 = 128
    static let echoReply: UInt8 = 129
    static let listenerQuery: UInt8 = 130
    static let listenerReport: UInt8 = 131
    static let listenerDone: UInt8 = 132
    static let routerSolicitation: UInt8 = 133
    static let routerAdvertisement: UInt8 = 134
    static let neighborSolicitation: UInt8 = 135
    static let neighborAdvertisement: UInt8 = 136
    static let redirect: UInt8 = 137
    static let listenerReport2: UInt8 = 143
    static let homeAgentDiscoveryReply: UInt8 = 145
    static let mobilePrefixAdvertisement: UInt8 = 147
    static let rpl: UInt8 = 155
    static let extendedEchoRequest: UInt8 = 160
    static let extendedEchoReply: UInt8 = 161
}

/// ICMPv6 message codes (IANA registry "ICMPv6 'Code' Fields").
enum ICMP6Code {
    // Codes for `ICMP6Type/destinationUnreachable` (RFC 4443 §3.1).
    static let noRoute: UInt8 = 0
    static let prohibited: UInt8 = 1
    static let beyondScope: UInt8 = 2
    static let addressUnreachable: UInt8 = 3
    static let portUnreachable: UInt8 = 4
    // Codes for `ICMP6Type/timeExceeded` (RFC 4443 §3.3).
    static let hopLimitExceeded: UInt8 = 0
    static let reassemblyTimeExceeded: UInt8 = 1
    // Codes for `ICMP6Type/parameterProblem` (RFC 4443 §3.4, RFC 7112).
    static let erroneousField: UInt8 = 0
    static let unrecognizedNextHeader: UInt8 = 1
    static let unrecognizedOption: UInt8 = 2
    static let incompleteHeaderChain: UInt8 = 3
    // The code of an `ICMP6Type/rpl` message that is a Destination Advertisement Object Acknowledgement (RFC 6550 §6).
    static let destinationAdvertisementAcknowledgement: UInt8 = 3
}
