extension NSURLRequest {
    /// How a request uses the cache.
    ///
    /// Counterpart: macOS 10.2, iOS 2.
    public enum CachePolicy: UInt, Sendable {
        /// The caching rules of the URL's protocol apply, such as RFC 9111 for HTTP.
        case useProtocolCachePolicy = 0
        /// The local cache is not read.
        case reloadIgnoringLocalCacheData = 1
        /// A cached response is used regardless of its age. If there is none, the request is loaded.
        case returnCacheDataElseLoad = 2
        /// A cached response is used regardless of its age. If there is none, the request fails without using the network.
        case returnCacheDataDontLoad = 3
        /// Neither the local cache nor intermediate caches are read.
        case reloadIgnoringLocalAndRemoteCacheData = 4
        /// A cached response is used only after the server has validated it.
        case reloadRevalidatingCacheData = 5

        /// The old name of ``reloadIgnoringLocalCacheData``.
        public static var reloadIgnoringCacheData: CachePolicy { .reloadIgnoringLocalCacheData }
    }

    /// The kind of traffic in a request.
    ///
    /// Counterpart: macOS 10.7, iOS 4.
    public enum NetworkServiceType: UInt, Sendable {
        /// Ordinary traffic.
        case `default` = 0
        /// Voice over IP control traffic.
        case voip = 1
        /// Video traffic.
        case video = 2
        /// Background traffic: no user is waiting for it.
        case background = 3
        /// Voice traffic.
        case voice = 4
        /// Data that a user is waiting for.
        ///
        /// Counterpart: macOS 10.14, iOS 12.
        case responsiveData = 6
        /// Audio and video that is buffered before playback.
        ///
        /// Counterpart: macOS 10.15, iOS 13.
        case avStreaming = 8
        /// Interactive audio and video.
        ///
        /// Counterpart: macOS 10.15, iOS 13.
        case responsiveAV = 9
        /// Call signaling.
        ///
        /// Counterpart: macOS 10.12, iOS 10.
        case callSignaling = 11

        /// The name of ``callSignaling`` in swift-corelibs-foundation.
        public static var networkServiceTypeCallSignaling: NetworkServiceType { .callSignaling }
    }

    /// The originator of a request: the developer or the user.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public enum Attribution: UInt, Sendable {
        /// The developer chose the URL, for example in the source code.
        case developer = 0
        /// The user chose the URL, for example by following a link.
        case user = 1
    }
}
