public import CausewayImageFormats
internal import CausewayURLLoading
public import Foundation

/// An image request.
public struct ImageRequest: Hashable, Sendable {
    /// Which cached copies may be used.
    public enum CachePolicy: Hashable, Sendable {
        /// Uses a copy in memory, then a fresh copy on disk, otherwise a conditional request (RFC 9111 §4).
        case standard
        /// Uses any cached copy regardless of age. Without a copy, loads the image from the server.
        case cachedElseLoad
        /// Uses any cached copy regardless of age. Without a copy, the load fails.
        case onlyCached
        /// Sends a conditional request, even if a copy is fresh or in memory.
        case validate
        /// Always loads the image from the server, and replaces cached copies.
        case reload
    }

    /// The URL.
    public var url: URL
    /// Header fields. Requests with different fields do not share an image.
    public var fields: [String: String] = [:]
    /// Processors to run after decoding, in order.
    public var processors: [ImageProcessor]
    /// The priority. An ``ImageTask`` can change it later.
    public var priority: ImagePriority
    /// Which caches the loader may use for this request.
    public var cachePolicy = CachePolicy.standard
    /// Whether to decode previews of a progressive JPEG image while its bytes arrive.
    public var wantsPreviews = false

    /// Creates a request.
    public init(_ url: URL, processors: [ImageProcessor] = [], priority: ImagePriority = .normal) {
        self.url = url
        self.processors = processors
        self.priority = priority
    }

    /// The key of the server's bytes in caches: the URL, and a hash of the header fields.
    var contentKey: String {
        guard !fields.isEmpty else { return url.absoluteString }
        // Use a hash of the fields: fields can contain secrets, which must not occur in cache files.
        let text = fields.map { "\($0.key.lowercased()): \($0.value)\n" }.sorted().joined()
        return url.absoluteString + "\n" + ImageDiskCache.name(text)
    }

    var imageKey: ImageKey { ImageKey(content: contentKey, processors: processors) }

    var urlRequest: URLRequest {
        // Do not use the session's cache, so that the loader knows whether an image comes from the network. The loader
        // has its own cache.
        var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
        request.setValue("image/webp,image/png,image/jpeg,image/*;q=0.8,*/*;q=0.5", forHTTPHeaderField: "Accept")
        // Request the image without a content coding. Compression does not make images smaller, and ranges must refer
        // to the image's own bytes.
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }
}

/// An image's key in the memory cache.
struct ImageKey: Hashable, Sendable {
    var content: String
    var processors: [ImageProcessor]
}

/// An image's origin.
public enum ImageOrigin: String, Hashable, Sendable {
    case memory
    /// The image comes from a file in the disk cache. The server may have confirmed with status 304 that the file is
    /// current.
    case disk
    case network
}

/// A loaded image.
public struct LoadedImage: Hashable, Sendable {
    /// The URL.
    public var url: URL
    /// The pixels, after all image processors have run.
    public var bitmap: Bitmap
    /// The file's format.
    public var format: ImageFormat
    /// The image size in the file.
    public var fullSize: PixelSize
    /// The origin.
    public var origin: ImageOrigin
    /// Whether this is a preview. Better previews or the final image may follow.
    public var isPreview = false

    /// Creates an image, for example for a test or a placeholder.
    public init(
        url: URL, bitmap: Bitmap, format: ImageFormat, fullSize: PixelSize? = nil, origin: ImageOrigin,
        isPreview: Bool = false
    ) {
        self.url = url
        self.bitmap = bitmap
        self.format = format
        self.fullSize = fullSize ?? PixelSize(width: bitmap.width, height: bitmap.height)
        self.origin = origin
        self.isPreview = isPreview
    }

    /// Whether the image came from a cache.
    public var isFromCache: Bool { origin != .network }
}

/// An update while an image loads.
public enum ImageUpdate: Sendable {
    /// The number of received bytes, and the total if known.
    case progress(received: Int, expected: Int?)
    /// A preview. Each preview is better than the previous preview.
    case preview(LoadedImage)
}
