internal import CausewaySystem

extension NWParameters {
    /// The protocols of a connection, from the application down to IP.
    ///
    /// The stack and its options are references: a change through any reference changes the parameters.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    // SAFETY: a lock protects the only state, and options are themselves thread-safe.
    public class ProtocolStack: @unchecked Sendable {
        private struct Layers: Sendable {
            var application: [NWProtocolOptions]
            var transport: NWProtocolOptions?
            var internet: NWProtocolOptions?
        }

        private let layers: LockedValue<Layers>

        package init(
            application: [NWProtocolOptions] = [], transport: NWProtocolOptions?,
            internet: NWProtocolOptions? = NWProtocolIP.Options()
        ) {
            layers = LockedValue(Layers(application: application, transport: transport, internet: internet))
        }

        /// The protocols above the transport. The first protocol is nearest to the program, for example `[framer,
        /// TLS]`.
        public var applicationProtocols: [NWProtocolOptions] {
            get { layers.withLock { $0.application } }
            set { layers.withLock { $0.application = newValue } }
        }

        /// The transport: TCP, UDP, QUIC or a custom IP protocol.
        public var transportProtocol: NWProtocolOptions? {
            get { layers.withLock { $0.transport } }
            set { layers.withLock { $0.transport = newValue } }
        }

        /// The network layer: an ``NWProtocolIP/Options`` unless the program removed it.
        public var internetProtocol: NWProtocolOptions? {
            get { layers.withLock { $0.internet } }
            set { layers.withLock { $0.internet = newValue } }
        }

        /// Returns a stack with copies of all options.
        package func copy() -> ProtocolStack {
            let layers = layers.withLock { $0 }
            return ProtocolStack(
                application: layers.application.map { $0.copyOptions() },
                transport: layers.transport?.copyOptions(),
                internet: layers.internet?.copyOptions())
        }

        /// The protocol names from top to bottom, such as `tls, tcp, ip`.
        package var summary: String {
            let layers = layers.withLock { $0 }
            let options = layers.application + [layers.transport, layers.internet].compactMap { $0 }
            return options.map(\.definition.name).joined(separator: ", ")
        }
    }
}
