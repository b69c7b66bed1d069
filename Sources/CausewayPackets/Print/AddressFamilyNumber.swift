/// Address families in packets (IANA registry "Address Family Numbers").
enum AddressFamilyNumber {
    static let ipv4: UInt16 = 1
    static let ipv6: UInt16 = 2
}
