/// One peer's connection settings (RFC 9113 §6.5.2).
package struct HTTP2Settings: Equatable, Sendable {
    /// The largest flow-control window in bytes (RFC 9113 §6.9.1).
    package static let largestWindow = 0x7FFF_FFFF

    package var headerTableSize = 4096
    package var enablesPush = true
    /// The maximum number of streams that the setting's receiver may open; `nil` for no limit.
    package var maxConcurrentStreams: Int?
    package var initialWindowSize = 65535
    package var maxFrameSize = 16384
    /// The maximum field section size in bytes that this peer accepts; `nil` for no limit.
    package var maxHeaderListSize: Int?
    /// Whether the server accepts extended CONNECT requests (RFC 8441 §3).
    package var enablesConnectProtocol = false
    /// Whether the sender ignores RFC 7540 priorities (RFC 9218 §2.1).
    package var hasNoRFC7540Priorities = false

    /// Creates the initial settings, which apply before the first SETTINGS frame.
    package init() {}

    /// Applies one setting. Ignores unknown settings.
    ///
    /// - Throws: A connection error for a value that is out of range (RFC 9113 §6.5.2, RFC 8441 §3, RFC 9218 §2.1).
    package mutating func apply(_ setting: HTTP2Setting) throws(HTTP2Violation) {
        let value = Int(setting.value)
        switch setting.identifier {
        case .headerTableSize: headerTableSize = value
        case .enablePush: enablesPush = try Self.flag(setting, "SETTINGS_ENABLE_PUSH")
        case .maxConcurrentStreams: maxConcurrentStreams = value
        case .initialWindowSize:
            guard value <= Self.largestWindow else {
                throw HTTP2Violation(.flowControlError, "SETTINGS_INITIAL_WINDOW_SIZE of \(value)")
            }
            initialWindowSize = value
        case .maxFrameSize:
            guard (16384...0xFF_FFFF).contains(value) else {
                throw HTTP2Violation(.protocolError, "SETTINGS_MAX_FRAME_SIZE of \(value)")
            }
            maxFrameSize = value
        case .maxHeaderListSize: maxHeaderListSize = value
        case .enableConnectProtocol:
            let enables = try Self.flag(setting, "SETTINGS_ENABLE_CONNECT_PROTOCOL")
            guard enables || !enablesConnectProtocol else {
                throw HTTP2Violation(.protocolError, "SETTINGS_ENABLE_CONNECT_PROTOCOL revoked")
            }
            enablesConnectProtocol = enables
        case .noRFC7540Priorities:
            hasNoRFC7540Priorities = try Self.flag(setting, "SETTINGS_NO_RFC7540_PRIORITIES")
        default: break
        }
    }

    private static func flag(_ setting: HTTP2Setting, _ name: String) throws(HTTP2Violation) -> Bool {
        guard setting.value <= 1 else { throw HTTP2Violation(.protocolError, "\(name) of \(setting.value)") }
        return setting.value == 1
    }

    /// Returns the settings that differ from `other`, in identifier order.
    package func changes(from other: HTTP2Settings) -> [HTTP2Setting] {
        var changes: [HTTP2Setting] = []
        func add(_ identifier: HTTP2SettingIdentifier, _ value: Int?, _ old: Int?) {
            guard value != old, let value else { return }
            changes.append(HTTP2Setting(identifier, UInt32(clamping: value)))
        }
        add(.headerTableSize, headerTableSize, other.headerTableSize)
        add(.enablePush, enablesPush ? 1 : 0, other.enablesPush ? 1 : 0)
        add(.maxConcurrentStreams, maxConcurrentStreams, other.maxConcurrentStreams)
        add(.initialWindowSize, initialWindowSize, other.initialWindowSize)
        add(.maxFrameSize, maxFrameSize, other.maxFrameSize)
        add(.maxHeaderListSize, maxHeaderListSize, other.maxHeaderListSize)
        add(.enableConnectProtocol, enablesConnectProtocol ? 1 : 0, other.enablesConnectProtocol ? 1 : 0)
        add(.noRFC7540Priorities, hasNoRFC7540Priorities ? 1 : 0, other.hasNoRFC7540Priorities ? 1 : 0)
        return changes
    }
}
