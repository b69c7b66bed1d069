extension NSURLRequest {
    /// How a request uses caches.
    ///
    /// Counterpart: macOS 10.2, iOS 2.
    public enum CachePolicy: UInt, Sendable {
        /// The rules of the protocol apply, such as RFC 9111 for HTTP.
        case useProtocolCachePolicy = 0
        /// The local cache is not read.
        case reloadIgnoringLocalCacheData = 1
        /// A stored response is used at any age; otherwise the request is loaded.
        case returnCacheDataElseLoad = 2
        /// A stored response is used at any age; otherwise the request fails. Nothing is sent.
        case returnCacheDataDontLoad = 3
        /// Neither the local cache nor caches on the way are read.
        case reloadIgnoringLocalAndRemoteCacheData = 4
        /// A stored response is used only after the server confirms it.
        case reloadRevalidatingCacheData = 5

        /// The old name of ``reloadIgnoringLocalCacheData``.
        public static var reloadIgnoringCacheData: CachePolicy { .reloadIgnoringLocalCacheData }
    }

    /// The kind of traffic that a request causes.
    ///
    /// Counterpart: macOS 10.7, iOS 4.
    public enum NetworkServiceType: UInt, Sendable {
        /// Ordinary traffic.
        case `default` = 0
        /// Control traffic of Voice over IP.
        case voip = 1
        /// Video.
        case video = 2
        /// Traffic for which no person waits.
        case background = 3
        /// Voice.
        case voice = 4
        /// Data that a person waits for. macOS 10.14, iOS 12.
        case responsiveData = 6
        /// Multimedia that is sent ahead of its use. macOS 10.15, iOS 13.
        case avStreaming = 8
        /// Interactive multimedia. macOS 10.15, iOS 13.
        case responsiveAV = 9
        /// Signaling of calls. macOS 10.12, iOS 10.
        case callSignaling = 11

        /// The name of ``callSignaling`` in the Foundation of Linux.
        public static var networkServiceTypeCallSignaling: NetworkServiceType { .callSignaling }
    }

    /// Who chose the URL of a request.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public enum Attribution: UInt, Sendable {
        /// The developer, for example in the text of the program.
        case developer = 0
        /// The user, for example by following a link.
        case user = 1
    }
}
