package import CausewayRuntime
package import CausewayTLS
package import CausewayTypes
internal import Dispatch
internal import FoundationEssentials

/// The TLS engine's configuration for one ``NWProtocolTLS/Options``. It is created once, and all connections with these
/// options use it.
package struct TLSConfiguration: Sendable {
    package let settings: TLSSettings
    let context: TLSContext
    let values: SecProtocolOptionValues

    /// Creates the configuration.
    ///
    /// - Parameter allowsEarlyData: Whether to allow early data even if the options do not.
    /// - Throws: `NWError.posix` with `ENOTSUP` if the options require a security feature that the engine does not support;
    ///   `NWError.tls` if the settings are contradictory or OpenSSL is missing.
    package init(
        _ options: NWProtocolTLS.Options, isServer: Bool, isDatagram: Bool, allowsEarlyData: Bool = false,
        logsKeys: Bool = false
    ) throws(NWError) {
        let values = options.securityProtocolOptions.values
        var settings = try values.settings(isServer: isServer, isDatagram: isDatagram)
        settings.logsKeys = logsKeys
        if allowsEarlyData { settings.isEarlyDataEnabled = true }
        // Load the anchors now on a background thread, because loading takes milliseconds. The handshake needs them
        // only when the peer's reply has arrived, one round trip later.
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

    /// Returns the application protocol (ALPN) for early data on the next connection to this host. An empty string
    /// means a session without ALPN. `nil` if the connection cannot send early data. See
    /// ``TLSContext/earlyProtocol(host:port:)``.
    package func earlyProtocol(host: NWEndpoint.Host?, port: UInt16) -> String? {
        peerName(host).flatMap { context.earlyProtocol(host: $0, port: port) }
    }

    /// The server name from the options; if there is none, the connection's host.
    private func peerName(_ host: NWEndpoint.Host?) -> NWEndpoint.Host? {
        values.serverName.map { NWEndpoint.Host($0) } ?? host
    }

    /// Creates the TLS stage for one connection, with its delegate.
    ///
    /// - Parameters:
    ///   - host: For a client, the connection's host; the server name in the options has precedence.
    ///   - keyLog: Called with each line for a key log file, on the connection's queue.
    /// - Throws: `NWError.tls` if memory allocation fails.
    package func makeLayer(
        host: NWEndpoint.Host?, port: UInt16, keyLog: (@Sendable (String) -> Void)? = nil
    ) throws(NWError) -> StackLayer {
        let name = settings.side == .client ? peerName(host) : nil
        do throws(TLSFailure) {
            let stage = try TLSStage(context, host: name, port: port, stepsElsewhere: true)
            return StackLayer(stage, TLSDelegate(values, keyLog: keyLog))
        } catch {
            throw error.failure.networkError
        }
    }
}

/// Creates the TLS stage for one connection with these options. Also creates the stage's delegate, a ``TLSDelegate``.
///
/// A listener does not use this function: it creates one ``TLSConfiguration`` for all its connections. The function
/// throws the same errors as the initializer of ``TLSConfiguration``.
package func makeTLSLayer(
    _ options: NWProtocolTLS.Options, isServer: Bool, isDatagram: Bool, host: NWEndpoint.Host?, port: UInt16,
    keyLog: (@Sendable (String) -> Void)? = nil
) throws(NWError) -> StackLayer {
    let configuration = try TLSConfiguration(
        options, isServer: isServer, isDatagram: isDatagram, logsKeys: keyLog != nil)
    return try configuration.makeLayer(host: host, port: port, keyLog: keyLog)
}
