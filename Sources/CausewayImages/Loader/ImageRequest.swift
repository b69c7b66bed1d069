public import CausewayImageFormats
internal import CausewayURLLoading
public import Foundation

/// A request for an image.
public struct ImageRequest: Hashable, Sendable {
    /// Which copies of an image are used.
    public enum CachePolicy: Hashable, Sendable {
        /// Memory, then disk if the copy is fresh, else a conditional request (RFC 9111 §4).
        case standard
        /// Any copy, however old, else the server.
        case cachedElseLoad
        /// Any copy, however old, else an error.
        case onlyCached
        /// A conditional request, also if a copy is in memory or fresh.
        case validate
        /// The server. Copies are replaced.
        case reload
    }

    /// The address.
    public var url: URL
    /// Fields of the request. Requests with different fields do not share an image.
    public var fields: [String: String] = [:]
    /// Changes after decoding, in order.
    public var processors: [ImageProcessor]
    /// How urgent the image is. An ``ImageTask`` can change it later.
    public var priority: ImagePriority
    /// Which copies are used.
    public var cachePolicy = CachePolicy.standard
    /// Whether previews of a progressive JPEG image are decoded while its bytes arrive.
    public var wantsPreviews = false

    /// Makes a request.
    public init(_ url: URL, processors: [ImageProcessor] = [], priority: ImagePriority = .normal) {
        self.url = url
        self.processors = processors
        self.priority = priority
    }

    /// Identifies the bytes of the server.
    var contentKey: String {
        guard !fields.isEmpty else { return url.absoluteString }
        // Fields can be secrets, which do not belong into names and files.
        let text = fields.map { "\($0.key.lowercased()): \($0.value)\n" }.sorted().joined()
        return url.absoluteString + "\n" + ImageDiskCache.name(text)
    }

    var imageKey: ImageKey { ImageKey(content: contentKey, processors: processors) }

    var urlRequest: URLRequest {
        // The loader has its own cache, so that the origin of an image is known.
        var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
        request.setValue("image/webp,image/png,image/jpeg,image/*;q=0.8,*/*;q=0.5", forHTTPHeaderField: "Accept")
        // Images do not get smaller, and ranges count bytes without a coding.
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }
}

/// Identifies an image in memory.
struct ImageKey: Hashable, Sendable {
    var content: String
    var processors: [ImageProcessor]
}

/// Where an image came from.
public enum ImageOrigin: String, Hashable, Sendable {
    case memory
    /// A file. The server may have confirmed that it is up to date.
    case disk
    case network
}

/// An image.
public struct LoadedImage: Hashable, Sendable {
    /// The address.
    public var url: URL
    /// The pixels, after all processors.
    public var bitmap: Bitmap
    /// The format of the file.
    public var format: ImageFormat
    /// The size of the image in the file.
    public var fullSize: PixelSize
    /// Where it came from.
    public var origin: ImageOrigin
    /// Whether it is a preview, of which more will follow.
    public var isPreview = false

    /// Makes an image, for example for a test or a placeholder.
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

/// News of an image that is on its way.
public enum ImageUpdate: Sendable {
    /// Bytes that have arrived, and the number of all bytes if it is known.
    case progress(received: Int, expected: Int?)
    /// A preview. Each one is better than the previous one.
    case preview(LoadedImage)
}
