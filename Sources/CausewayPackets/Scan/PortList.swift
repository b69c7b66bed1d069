internal import CausewayTypes

/// Ports in the syntax `22,80,8000-8100,https`, in the given order, without duplicates.
public struct PortList: Hashable, Sendable {
    /// The ports, in the order in which the list names them.
    public private(set) var ports: [UInt16] = []

    /// A syntax error in a port list.
    public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The reason, as human-readable text.
        public var description: String
        /// The invalid part's offset, in bytes.
        public var offset: Int
    }

    /// Parses port numbers, ranges and service names.
    ///
    /// - Throws: ``Failure`` for an invalid or unknown part.
    public init(_ text: String) throws(Failure) {
        var seen = Array(repeating: false, count: 65_536)
        var offset = 0
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            for port in try Self.range(part, offset) where !seen[Int(port)] {
                seen[Int(port)] = true
                ports.append(port)
            }
            offset += part.utf8.count + 1
        }
    }

    /// Creates a list with the most common ports: first those with known services, then the others in numerical order.
    ///
    /// - Parameters:
    ///   - count: The port count, 1...65535.
    ///   - technique: ``ScanTechnique/udp`` selects UDP services; all others select TCP services.
    public init(top count: Int, technique: ScanTechnique) {
        let named = technique == .udp ? Self.commonUDP : Self.commonTCP
        var seen = Array(repeating: false, count: 65_536)
        let others = PortNames.table.map(\.1) + Array(1...65_535)
        for port in named + others where ports.count < count && !seen[Int(port)] {
            seen[Int(port)] = true
            ports.append(port)
        }
    }

    private static func range(_ part: Substring, _ offset: Int) throws(Failure) -> ClosedRange<UInt16> {
        if part == "-" { return 1...65_535 }
        if let port = number(part) ?? PortNames.port(named: String(part)) { return port...port }
        guard let dash = part.firstIndex(of: "-") else {
            throw Failure(description: "\"\(part)\" is neither a port (1...65535) nor a service name", offset: offset)
        }
        let (first, last) = (part[..<dash], part[part.index(after: dash)...])
        guard let low = first.isEmpty ? 1 : number(first), let high = last.isEmpty ? 65_535 : number(last) else {
            throw Failure(description: "\"\(part)\" is not a port range such as 1-1024", offset: offset)
        }
        guard low <= high else {
            throw Failure(description: "the range \(part) ends before it begins", offset: offset)
        }
        return low...high
    }

    private static func number(_ text: Substring) -> UInt16? {
        UInt16(digits: text).flatMap { $0 > 0 ? $0 : nil }
    }

    /// The most common services come first.
    private static let commonTCP: [UInt16] = [
        443, 80, 22, 8080, 8443, 53, 21, 25, 3389, 445, 139, 135, 587, 993, 995, 110, 143, 465, 3306, 5432, 23, 5900,
        111, 1723, 8000, 8888, 6379, 27_017, 9200, 9090, 3000, 5000, 2049, 389, 636, 88, 5060, 5061, 1883, 8883, 631,
        554, 548, 1433, 1521, 2375, 2376, 6443, 10_250, 2379, 5672, 15_672, 9092, 11_211, 5985, 5986, 8081, 8008, 9000,
        9100, 515, 873, 1194, 1080, 3128, 8118, 179, 199, 514, 513, 512, 79, 70, 113, 119, 26, 81, 82, 90, 100, 106,
        6000, 6001, 7, 9, 13, 17, 19, 37, 49, 427, 444, 464, 543, 544, 646, 853, 990, 1025, 1026, 1027, 1028, 1029,
        1110, 1720, 1755, 1900, 2000, 2001, 2121, 2222, 2717, 3268, 3269, 3986, 4444, 4899, 5009, 5051, 5101, 5190,
        5222, 5269, 5357, 5601, 5631, 5666, 5800, 6646, 6667, 7000, 7001, 7070, 8009, 8083, 8086, 8088, 8181, 8333,
        8500, 8554, 8834, 9091, 9418, 9443, 9999, 10_000, 25_565, 32_768, 49_152, 49_153, 49_154, 49_155, 50_000,
    ]
    private static let commonUDP: [UInt16] = [
        53, 123, 161, 67, 68, 500, 4500, 1900, 5353, 137, 138, 69, 514, 520, 443, 51_820, 1194, 1701, 111, 2049, 3702,
        5060, 1812, 1813, 162, 88, 389, 464, 631, 623, 3478, 5355, 4789, 6081, 11_211, 19, 7, 9, 13, 17, 37, 49, 177,
        427, 445, 497, 518, 593, 626, 996, 997, 998, 999, 1025, 1026, 1027, 1433, 1434, 1645, 1646, 2000, 2222, 3283,
        3456, 4444, 5000, 5632, 9200, 10_000, 17_185, 20_031, 27_015, 30_718, 31_337, 32_768, 33_434, 41_641, 47_808,
        49_152, 49_153, 49_154, 5683, 5684, 853, 784, 546, 547, 521, 6771, 10_001,
    ]
}

extension PortNames {
    /// Returns a service's port, or `nil`.
    public static func port(named name: String) -> UInt16? { table.first { $0.0 == name }?.1 }
}
