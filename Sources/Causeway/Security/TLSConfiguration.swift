package import CausewayRuntime
package import CausewayTLS
package import CausewayTypes
internal import Dispatch
internal import FoundationEssentials

/// What one ``NWProtocolTLS/Options`` means to the TLS engine: made once, for all connections with these options.
package struct TLSConfiguration: Sendable {
    package let settings: TLSSettings
    let context: TLSContext
    let values: SecProtocolOptionValues

    /// - Parameter allowsEarlyData: Whether content may come before the handshake is done, as if the options said so.
    /// - Throws: ``NWError/posix(_:)`` with `ENOTSUP` when something was asked for that the engine cannot do and that security depends
    ///   on; ``NWError/tls(_:)`` when the settings contradict themselves, or OpenSSL is missing.
    package init(
        _ options: NWProtocolTLS.Options, isServer: Bool, isDatagram: Bool, allowsEarlyData: Bool = false,
        logsKeys: Bool = false
    ) throws(NWError) {
        let values = options.securityProtocolOptions.values
        var settings = try values.settings(isServer: isServer, isDatagram: isDatagram)
        settings.logsKeys = logsKeys
        if allowsEarlyData { settings.isEarlyDataEnabled = true }
        // Reading them takes milliseconds, which neither this thread nor an event loop should spend: the answer of the peer that
        // they are needed for is a round trip away.
        if settings.peerAuthentication != .none, settings.trust.includesSystemAnchors {
            DispatchQueue.global(qos: .userInitiated).async { TrustStore.prepareSystemAnchors() }
        }
        do throws(TLSFailure) {
            context = try TLSContext.shared(for: settings)
        } catch {
            throw error.failure.networkError
        }
        self.settings = settings
        self.values = values
    }

    /// The stage of one connection and who answers it.
    ///
    /// - Parameters:
    ///   - host: For a client, whom the connection goes to; the server name of the options comes first.
    ///   - keyLog: Told each line for a file of keys, on the connection's queue.
    /// - Throws: ``NWError/tls(_:)`` when memory is short.
    package func makeLayer(
        host: NWEndpoint.Host?, port: UInt16, keyLog: (@Sendable (String) -> Void)? = nil
    ) throws(NWError) -> StackLayer {
        let name = settings.side == .client ? values.serverName.map { NWEndpoint.Host($0) } ?? host : nil
        do throws(TLSFailure) {
            let stage = try TLSStage(context, host: name, port: port, stepsElsewhere: true)
            return StackLayer(stage, TLSDelegate(values, keyLog: keyLog))
        } catch {
            throw error.failure.networkError
        }
    }
}

/// The stage of one connection with these options, and the delegate that answers it: a ``TLSDelegate``.
///
/// A listener makes one ``TLSConfiguration`` instead, for all that it accepts. For errors see there.
package func makeTLSLayer(
    _ options: NWProtocolTLS.Options, isServer: Bool, isDatagram: Bool, host: NWEndpoint.Host?, port: UInt16,
    keyLog: (@Sendable (String) -> Void)? = nil
) throws(NWError) -> StackLayer {
    let configuration = try TLSConfiguration(
        options, isServer: isServer, isDatagram: isDatagram, logsKeys: keyLog != nil)
    return try configuration.makeLayer(host: host, port: port, keyLog: keyLog)
}
