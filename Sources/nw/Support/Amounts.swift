/// Formats sizes, rates and times for display.
enum Amounts {
    /// Formats a size, such as `1.0 GiB`, `12.3 MiB` or `999 bytes`.
    static func bytes(_ count: UInt64) -> String {
        let units = ["KiB", "MiB", "GiB", "TiB"]
        guard count >= 1024 else { return "\(count) bytes" }
        var value = Double(count) / 1024
        var unit = 0
        while value >= 1024, unit < units.count - 1 {
            value /= 1024
            unit += 1
        }
        return "\(decimal(value, places: 1)) \(units[unit])"
    }

    /// Formats a rate, such as `1.2 GiB/s`.
    static func rate(_ byteCount: UInt64, over time: Duration) -> String {
        let seconds = max(time.inSeconds, 0.000_001)
        return "\(bytes(UInt64(Double(byteCount) / seconds)))/s"
    }

    /// Formats a time, such as `0.123 ms`.
    static func milliseconds(_ time: Duration) -> String {
        "\(decimal(time.inSeconds * 1000, places: 3)) ms"
    }

    /// Returns a non-negative number with a fixed number of decimals, without Foundation's locale code.
    static func decimal(_ value: Double, places: Int) -> String {
        var scale = 1.0
        for _ in 0..<places { scale *= 10 }
        let scaled = UInt64((max(0, value) * scale).rounded())
        guard places > 0 else { return "\(scaled)" }
        let fraction = String(scaled % UInt64(scale))
        return "\(scaled / UInt64(scale))." + String(repeating: "0", count: places - fraction.count) + fraction
    }
}

extension Duration {
    var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}

extension String {
    /// Returns the text padded with spaces to `width` characters.
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
