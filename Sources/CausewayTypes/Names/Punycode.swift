/// Punycode: encodes Unicode labels in ASCII (RFC 3492).
package enum Punycode {
    private static let base: UInt32 = 36
    private static let smallest: UInt32 = 1
    private static let largest: UInt32 = 26

    /// Converts a label to an A-label (RFC 5890 §2.3.2.1): an ASCII label to lower case, any other label to `xn--` and its encoding.
    ///
    /// Letters are converted to lower case without any further mapping: a program that accepts names from users must map them first (RFC
    /// 5895). Returns `nil` if the label cannot be encoded.
    package static func label(_ text: some StringProtocol) -> String? {
        let lower = text.lowercased()
        if lower.utf8.allSatisfy({ $0 < 0x80 }) { return lower }
        guard let code = encode(Array(lower.unicodeScalars.map(\.value))) else { return nil }
        return "xn--" + code
    }

    /// Implements the encoding procedure of RFC 3492 §6.3.
    private static func encode(_ scalars: [UInt32]) -> String? {
        // A label has at most 63 bytes (RFC 1035 §2.3.4). Longer labels are rejected here, because the loop below takes
        // quadratic time.
        guard scalars.count <= 63 else { return nil }
        var output = scalars.filter { $0 < 0x80 }.map { UInt8($0) }
        let basicCount = UInt32(output.count)
        var handled = basicCount
        if basicCount > 0 { output.append(UInt8(ascii: "-")) }
        var next: UInt32 = 128
        var delta: UInt32 = 0
        var bias: UInt32 = 72
        while handled < UInt32(scalars.count) {
            guard let following = scalars.filter({ $0 >= next }).min() else { return nil }
            let (product, overflow) = (following - next).multipliedReportingOverflow(by: handled + 1)
            guard !overflow, product <= UInt32.max - delta else { return nil }
            delta += product
            next = following
            for scalar in scalars {
                if scalar < next { delta += 1 }
                guard scalar == next else { continue }
                append(delta, bias: bias, to: &output)
                bias = adapted(delta, count: handled + 1, isFirst: handled == basicCount)
                delta = 0
                handled += 1
            }
            delta += 1
            next += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Appends a number as variable-length digits (RFC 3492 §3.3).
    private static func append(_ number: UInt32, bias: UInt32, to output: inout [UInt8]) {
        var rest = number
        var position = base
        while true {
            let threshold = position <= bias ? smallest : min(position - bias, largest)
            guard rest >= threshold else { break }
            output.append(digit(threshold + (rest - threshold) % (base - threshold)))
            rest = (rest - threshold) / (base - threshold)
            position += base
        }
        output.append(digit(rest))
    }

    private static func digit(_ value: UInt32) -> UInt8 {
        value < 26 ? UInt8(ascii: "a") + UInt8(value) : UInt8(ascii: "0") + UInt8(value - 26)
    }

    /// Adapts the bias (RFC 3492 §6.1).
    private static func adapted(_ delta: UInt32, count: UInt32, isFirst: Bool) -> UInt32 {
        var rest = isFirst ? delta / 700 : delta / 2
        rest += rest / count
        var bias: UInt32 = 0
        while rest > (base - smallest) * largest / 2 {
            rest /= base - smallest
            bias += base
        }
        return bias + (base - smallest + 1) * rest / (rest + 38)
    }
}
