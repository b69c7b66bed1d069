internal import CausewayTypes

extension DNSMessageWriter {
    mutating func writeContent(_ body: (inout DNSMessageWriter) -> Void) {
        let start = bytes.count
        bytes += [0, 0]
        body(&self)
        let count = UInt16(clamping: bytes.count - start - 2)
        bytes[start] = UInt8(count >> 8)
        bytes[start + 1] = UInt8(truncatingIfNeeded: count)
    }

    mutating func write(_ data: DNSRecordData, inMulticast: Bool) {
        switch data {
        case .ipv4(let address): write(address.bits)
        case .ipv6(let address):
            write(address.high)
            write(address.low)
        case .name(let name): write(name, mayCompress: true)
        case .service(let priority, let weight, let port, let target):
            write(priority)
            write(weight)
            write(port)
            write(target, mayCompress: inMulticast)
        case .text(let strings): bytes += strings.isEmpty ? [0] : strings
        case .mail(let preference, let exchange):
            write(preference)
            write(exchange, mayCompress: true)
        case .authority(let authority): write(authority)
        case .next(let next, let types):
            write(next, mayCompress: inMulticast)
            write(types)
        case .binding(let binding): write(binding)
        case .opaque(let content): bytes += content
        }
    }

    private mutating func write(_ authority: DNSAuthority) {
        write(authority.server, mayCompress: true)
        write(authority.mailbox, mayCompress: true)
        for number in [authority.serial, authority.refresh, authority.retry, authority.expire, authority.minimum] {
            write(number)
        }
    }

    private mutating func write(_ types: [DNSRecordType]) {
        let windows = Dictionary(grouping: types) { UInt8($0.rawValue >> 8) }
        for (window, types) in windows.sorted(by: { $0.key < $1.key }) {
            let numbers = types.map { Int($0.rawValue & 0xFF) }
            var bits = [UInt8](repeating: 0, count: (numbers.max() ?? 0) / 8 + 1)
            for number in numbers { bits[number / 8] |= 0x80 >> (number % 8) }
            bytes += [window, UInt8(bits.count)]
            bytes += bits
        }
    }

    private mutating func write(_ binding: DNSServiceBinding) {
        write(binding.priority)
        write(binding.target, mayCompress: false)
        for (key, value) in binding.parameters {
            write(key.rawValue)
            write(UInt16(clamping: value.count))
            bytes += value.prefix(Int(UInt16.max))
        }
    }
}
