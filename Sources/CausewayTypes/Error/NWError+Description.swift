internal import CCausewayLinux

extension NWError {
    /// The code and its meaning, such as `POSIXErrorCode(rawValue: 111): Connection refused`.
    public var debugDescription: String {
        let code =
            switch self {
            case .posix(let code): "POSIXErrorCode(rawValue: \(code.rawValue))"
            case .dns(let code): "\(code)"
            case .tls(let code): "\(code)"
            case .wifiAware(let code): "\(code)"
            }
        return "\(code): \(reason ?? "Unknown")"
    }

    /// The meaning of the code, without the code; `nil` for an unknown code.
    package var reason: String? {
        switch self {
        case .posix(let code): Self.text(ofErrno: code.rawValue)
        case .dns(let code): DNSServiceErrorName.table[code]
        case .tls(let code): TLSStatusText.table[code]
        case .wifiAware: nil
        }
    }

    private static func text(ofErrno code: Int32) -> String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let start = buffer.baseAddress else { return "" }
            unsafe causeway_error_text(code, start, buffer.count)
            return unsafe String(cString: start)
        }
    }
}
