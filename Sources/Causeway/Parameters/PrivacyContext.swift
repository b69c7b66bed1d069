internal import CausewayRuntime
internal import CausewaySystem
public import FoundationEssentials
internal import Synchronization

extension NWParameters {
    /// Keeps the caches and settings of a set of connections apart from all others.
    ///
    /// A context that asks for encrypted name resolution, or for a proxy that does not exist here, makes connections fail with
    /// `.posix(.ENOTSUP)`: connecting without them would betray what they protect.
    ///
    /// Counterpart: macOS 11, iOS 14.
    // SAFETY: `debugDescription` is immutable and everything else is behind a lock.
    public class PrivacyContext: CustomDebugStringConvertible, @unchecked Sendable {
        /// The settings at one moment.
        package struct Settings: Sendable {
            package var isLoggingDisabled = false
            package var requiresEncryptedNames = false
            package var fallbackResolver: ResolverConfiguration?
            package var proxies: [ProxyConfiguration] = []
            /// Tells the context's cached answers from those of others.
            package var partition: UInt64 = 0
        }

        /// The context of all connections that name no other.
        public static let `default` = PrivacyContext(description: "default", partition: 0)

        /// The text given to ``init(description:)``.
        public let debugDescription: String

        private let storage = LockedValue(Settings())

        /// Makes a context that shares nothing with others.
        public convenience init(description: String) {
            self.init(
                description: description,
                partition: Self.contextCount.wrappingAdd(1, ordering: .relaxed).newValue)
        }

        private init(description: String, partition: UInt64) {
            debugDescription = description
            storage.withLock { $0.partition = partition }
        }

        /// No two contexts have the same number; ``default`` has 0, whichever is made first.
        private static let contextCount = Atomic<UInt64>(0)

        package var settings: Settings { storage.withLock { $0 } }

        /// Forgets what connections of this context cached.
        public func flushCache() {
            ResolverEngine.shared.forget(partition: settings.partition)
            PACStore.shared.forget(partition: settings.partition)
        }

        /// Stops logging for connections of this context. It has no effect on ``default``.
        public func disableLogging() {
            guard self !== Self.default else { return }
            storage.withLock { $0.isLoggingDisabled = true }
        }

        /// Forbids name resolution in clear text, or allows it again.
        ///
        /// - Parameters:
        ///   - requireEncryption: Whether names may only be resolved over an encrypted transport.
        ///   - fallbackResolver: The resolver to use when the system's is not encrypted.
        public func requireEncryptedNameResolution(
            _ requireEncryption: Bool, fallbackResolver: NWParameters.PrivacyContext.ResolverConfiguration?
        ) {
            storage.withLock {
                $0.requiresEncryptedNames = requireEncryption
                $0.fallbackResolver = fallbackResolver
            }
        }

        /// The proxies for connections of this context, best first. Default none.
        ///
        /// Counterpart: macOS 14, iOS 17.
        public var proxyConfigurations: [ProxyConfiguration] {
            get { storage.withLock { $0.proxies } }
            set { storage.withLock { $0.proxies = newValue } }
        }

        /// A resolver that is asked over an encrypted transport.
        ///
        /// Counterpart: macOS 11, iOS 14.
        public enum ResolverConfiguration: CustomDebugStringConvertible, Sendable {
            /// DNS over TLS (RFC 7858), with addresses to use instead of resolving the server's name.
            case tls(_: NWEndpoint, serverAddresses: [NWEndpoint])
            /// DNS over HTTPS (RFC 8484), with addresses to use instead of resolving the server's name.
            case https(_: URL, serverAddresses: [NWEndpoint])

            /// The kind of resolver and where it is.
            public var debugDescription: String {
                switch self {
                case .tls(let server, _): "DNS over TLS: \(server.debugDescription)"
                case .https(let url, _): "DNS over HTTPS: \(url.absoluteString)"
                }
            }
        }
    }
}
