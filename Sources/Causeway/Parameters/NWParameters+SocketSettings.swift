package import CausewayRuntime
import CausewaySystem

extension NWParameters {
    /// Returns the socket settings for these parameters' current values.
    ///
    /// - Throws: `.posix(.EINVAL)` for contradictory or invalid values. `.posix(.ENOTSUP)` for a protocol that is not
    ///   implemented, and for a required protection that is not available: encrypted DNS, DNSSEC validation, or proxies
    ///   if `usesProxies` is `false`. A required protection is never omitted silently.
    /// - Parameter usesProxies: Whether the caller connects through the privacy context's proxies, with
    ///   ``makeRoutes(to:)``. Groups and listeners do not.
    package func makeSocketSettings(usesProxies: Bool = false) throws(NWError) -> SocketSettings {
        let values = values
        try values.requireWhatExists(usesProxies: usesProxies)
        var settings = try defaultProtocolStack.transportSettings()
        settings.ip = try defaultProtocolStack.internetSettings()
        settings.ip.dscp = values.serviceClass.dscp
        settings.ip.priority = values.serviceClass.socketPriority
        settings.tcp.isMultipath = settings.transport == .tcp && values.multipathServiceType != .disabled
        let protocols = defaultProtocolStack.applicationProtocols
        // Without protocols above TCP, the SYN packet carries the program's own content. In that case, the TCP option
        // `enableFastOpen` is not enough, and the program must also set `allowFastOpen`.
        settings.tcp.fastOpen = settings.tcp.fastOpen && (values.allowFastOpen || !protocols.isEmpty)
        settings.defersConnect =
            protocols.last is NWProtocolTLS.Options || protocols.last is NWProtocolWebSocket.Options
        settings.allowsFastOpen = values.allowFastOpen
        settings.reuseLocalAddress = values.local.allowsReuse
        settings.localAddress = try values.local.address(for: settings.ip.version)
        values.paths.apply(to: &settings)
        settings.acceptsLocalOnly = values.acceptLocalOnly
        settings.resolution.partition = values.privacyContext.settings.partition
        settings.resolution.allowsExpired = [.allow, .persistent].contains(values.names.expiredDNSBehavior)
        return settings
    }
}

extension NWParameters.Values {
    /// Throws an error if the parameters require a protection that is not available. The protections are proxies,
    /// encrypted name resolution and DNSSEC validation.
    fileprivate func requireWhatExists(usesProxies: Bool) throws(NWError) {
        let context = privacyContext.settings
        // A caller that cannot use proxies can only connect directly. This is allowed if the parameters prefer it. It
        // is also allowed if every configured proxy permits a direct connection after a failure.
        let mayGoDirect = usesProxies || proxies.preferNone || context.proxies.allSatisfy(\.allowFailover)
        guard mayGoDirect, !context.requiresEncryptedNames, !names.requiresDNSSECValidation else {
            throw .posix(.ENOTSUP)
        }
    }
}

extension NWParameters.LocalBinding {
    fileprivate func address(for version: SocketSettings.IPVersion) throws(NWError) -> SocketAddress? {
        switch endpoint {
        case nil:
            return nil
        case .hostPort(.ipv4(let address), let port):
            guard version != .v6 else { throw .posix(.EINVAL) }
            return SocketAddress(address, port: port.rawValue)
        case .hostPort(.ipv6(let address), let port):
            guard version == .v4 else { return SocketAddress(address, port: port.rawValue) }
            // The address `::` selects only a port, so an IPv4 socket can use `0.0.0.0` instead. Any other IPv6 address
            // is an error.
            guard address.high == 0, address.low == 0 else { throw .posix(.EINVAL) }
            return SocketAddress(IPv4Address(bits: 0), port: port.rawValue)
        case .unix(let path):
            return .unix(path: path)
        case .hostPort(.name(let name, _), let port):
            // For a local endpoint, accept only the name `localhost`: other names can need a DNS query (RFC 6761 §6.3).
            guard name.lowercased() == "localhost" else { throw .posix(.EINVAL) }
            return version == .v6
                ? SocketAddress(IPv6Address.loopback, port: port.rawValue)
                : SocketAddress(IPv4Address.loopback, port: port.rawValue)
        case .service, .url, .opaque:
            throw .posix(.EINVAL)
        }
    }
}

extension NWParameters.ProtocolStack {
    fileprivate func transportSettings() throws(NWError) -> SocketSettings {
        switch transportProtocol {
        case let options as NWProtocolTCP.Options:
            var settings = SocketSettings(transport: .tcp)
            settings.tcp = try options.values.makeSettings()
            return settings
        case let options as NWProtocolUDP.Options:
            var settings = SocketSettings(transport: .udp)
            settings.noChecksum = options.preferNoChecksum
            return settings
        case nil:
            throw .posix(.EINVAL)
        default:
            throw .posix(.ENOTSUP)
        }
    }

    fileprivate func internetSettings() throws(NWError) -> SocketSettings.IP {
        switch internetProtocol {
        case let options as NWProtocolIP.Options: options.values.makeSettings()
        case nil: SocketSettings.IP()
        default: throw .posix(.ENOTSUP)
        }
    }
}

extension NWProtocolIP.Options.Values {
    fileprivate func makeSettings() -> SocketSettings.IP {
        var settings = SocketSettings.IP()
        settings.version =
            switch version {
            case .any: .any
            case .v4: .v4
            case .v6: .v6
            }
        settings.addressPreference =
            switch localAddressPreference {
            case .default: .system
            case .temporary: .temporary
            case .stable: .stable
            }
        settings.hopLimit = hopLimit
        settings.useMinimumMTU = useMinimumMTU
        settings.disableFragmentation = disableFragmentation
        settings.wantsReceiveTime = shouldCalculateReceiveTime
        settings.disableMulticastLoopback = disableMulticastLoopback
        return settings
    }
}

/// The kernel's limits for options of `tcp(7)`; `setsockopt` fails for larger values.
private enum TCPLimit {
    static let keepaliveSeconds = 32_767
    static let keepaliveProbes = 127
    static let segmentSizes = 88...32_767
    /// The maximum timeout in seconds: `TCP_USER_TIMEOUT` is a 31-bit number of milliseconds.
    static let timeoutSeconds = Int(Int32.max) / 1_000

    /// Returns the value, or the kernel's maximum if the value is larger.
    ///
    /// - Throws: `.posix(.EINVAL)` for a negative value.
    static func within(_ limit: Int, _ value: Int) throws(NWError) -> Int {
        guard value >= 0 else { throw .posix(.EINVAL) }
        return min(value, limit)
    }
}

extension NWProtocolTCP.Options.Values {
    fileprivate func makeSettings() throws(NWError) -> SocketSettings.TCP {
        guard maximumSegmentSize == 0 || maximumSegmentSize >= TCPLimit.segmentSizes.lowerBound else {
            throw .posix(.EINVAL)
        }
        var settings = SocketSettings.TCP()
        settings.noDelay = flags[.noDelay]
        settings.noPush = flags[.noPush]
        settings.maximumSegmentSize = min(maximumSegmentSize, TCPLimit.segmentSizes.upperBound)
        try timeouts.apply(to: &settings)
        settings.giveUpUnansweredFin = flags[.retransmitFinDrop]
        settings.quickAcknowledgements = flags[.disableAckStretching]
        settings.fastOpen = flags[.enableFastOpen]
        settings.keepalive = try keepalive.makeSettings()
        return settings
    }
}

extension NWProtocolTCP.Options.Timeouts {
    fileprivate func apply(to settings: inout SocketSettings.TCP) throws(NWError) {
        settings.connectionTimeoutSeconds = try TCPLimit.within(TCPLimit.timeoutSeconds, connection)
        settings.persistTimeoutSeconds = try TCPLimit.within(TCPLimit.timeoutSeconds, persist)
        settings.dropTimeSeconds = try TCPLimit.within(TCPLimit.timeoutSeconds, connectionDrop)
    }
}

extension NWProtocolTCP.Options.Keepalive {
    /// Returns the keepalive settings; `nil` if keepalive is disabled. Throws an error if a time or count is negative,
    /// even if keepalive is disabled.
    fileprivate func makeSettings() throws(NWError) -> SocketSettings.Keepalive? {
        let settings = SocketSettings.Keepalive(
            idleSeconds: try TCPLimit.within(TCPLimit.keepaliveSeconds, idle),
            intervalSeconds: try TCPLimit.within(TCPLimit.keepaliveSeconds, interval),
            count: try TCPLimit.within(TCPLimit.keepaliveProbes, count))
        return isEnabled ? settings : nil
    }
}

extension NWParameters.ServiceClass {
    /// The priority in the kernel's queues (`SO_PRIORITY`): 0 is the default, 2 is lower than the default, and 6 is the highest.
    fileprivate var socketPriority: Int {
        switch self {
        case .bestEffort: 0
        case .background: 2
        case .interactiveVideo, .responsiveData: 4
        case .interactiveVoice, .signaling: 6
        }
    }
}
