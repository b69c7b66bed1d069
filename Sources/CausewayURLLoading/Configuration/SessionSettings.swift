internal import Causeway
internal import Foundation

/// The values in a session configuration.
struct SessionSettings {
    /// Timeouts in seconds.
    struct Timeouts {
        var request: TimeInterval = 60
        var resource: TimeInterval = 604_800
    }

    /// Which networks may be used, and when.
    struct Access {
        var options = RequestOptions.initial
        var waitsForConnectivity = false
        var isDiscretionary = false
        var networkServiceType = NSURLRequest.NetworkServiceType.default
        var multipathServiceType = URLSessionConfiguration.MultipathServiceType.none
    }

    /// The settings for proxies and TLS.
    struct Transport {
        var proxyDictionary: [AnyHashable: Any]?
        var proxies: [ProxyConfiguration] = []
        var minimumTLSVersion = tls_protocol_version_t.TLSv12
        var maximumTLSVersion = tls_protocol_version_t.TLSv13
        var enablesEarlyData = false
        /// The mechanism that answers Negotiate challenges.
        var negotiation: any NegotiateMechanism = GSSMechanism()
        /// The mechanism that answers NTLM challenges.
        var ntlm: any NegotiateMechanism = NTLMMechanism()
    }

    /// The settings for HTTP.
    struct HTTP {
        var usesPipelining = false
        var setsCookies = true
        var cookieAcceptPolicy = HTTPCookie.AcceptPolicy.onlyFromMainDocumentDomain
        var additionalFields: [AnyHashable: Any]?
        var maximumConnectionsPerHost = 6
        var usesClassicLoading = true
        var webSocketCompression: NWProtocolWebSocket.Compression?
    }

    /// Stores shared by requests: cookies, credentials, cached responses and HSTS hosts.
    struct Stores {
        var cookies: HTTPCookieStorage?
        var credentials: URLCredentialStorage?
        var cache: URLCache?
        /// The hosts with Strict-Transport-Security; `nil` if each session keeps its own list.
        var strictTransport: StrictTransportStore?
    }

    /// The settings for background sessions.
    struct Background {
        var identifier: String?
        var sharedContainerIdentifier: String?
        var sendsLaunchEvents = true
        var usesExtendedIdleMode = false
        var transferCommand: String?
    }

    var cachePolicy = NSURLRequest.CachePolicy.useProtocolCachePolicy
    var timeouts = Timeouts()
    var access = Access()
    var transport = Transport()
    var http = HTTP()
    var stores = Stores()
    var background = Background()
    var observers: [any URLSessionTaskObserver] = []
    var protocolClasses: [AnyClass]? = BuiltInProtocols.all
}

extension SessionSettings {
    /// Settings with the shared cache, cookie storage and credential storage.
    static var shared: SessionSettings {
        var settings = SessionSettings()
        settings.stores = Stores(cookies: .shared, credentials: .shared, cache: .shared, strictTransport: .shared)
        return settings
    }

    /// Settings with a private cache, cookie storage and credential storage, all in memory.
    static var inMemory: SessionSettings {
        var settings = SessionSettings()
        settings.stores = Stores(
            cookies: HTTPCookieStorage(), credentials: URLCredentialStorage(),
            cache: URLCache(memoryCapacity: 512_000, diskCapacity: 0, diskPath: nil))
        return settings
    }
}
