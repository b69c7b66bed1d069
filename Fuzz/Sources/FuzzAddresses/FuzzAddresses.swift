import CFuzzerMain
import Causeway
import Foundation

/// Parses text as addresses. A parsed address must print as text that parses to the same address. No input may trap.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: start, count: count)
    let text = String(decoding: bytes, as: UTF8.self)
    if let address = IPv4Address(text) { checkRoundTrip(address) }
    if let address = IPv6Address(text) { checkRoundTrip(address) }
    checkHost(NWEndpoint.Host(text))
    checkRecord(NWTXTRecord(Data(bytes)), wireForm: Data(bytes))
    return 0
}

private func checkRoundTrip<Address: IPAddress & Equatable & CustomDebugStringConvertible>(_ address: Address) {
    precondition(Address(address.debugDescription) == address)
    precondition(Address(address.rawValue, address.interface) == address)
}

private func checkHost(_ host: NWEndpoint.Host) {
    if case .ipv6(let address) = host { precondition(!address.isIPv4Mapped) }
    precondition(NWEndpoint.Host(host.debugDescription) == host)
}

private func checkRecord(_ record: NWTXTRecord, wireForm: Data) {
    precondition(record.data == wireForm)
    var copy = NWTXTRecord()
    for (key, value) in record {
        precondition(copy.getEntry(for: key) == nil)
        precondition(copy.setEntry(value, for: key))
    }
    precondition(NWTXTRecord(copy.data) == copy)
}

@main
enum FuzzAddresses {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
