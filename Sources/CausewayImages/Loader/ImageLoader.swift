public import CausewayImageFormats
internal import CausewaySystem
public import CausewayURLLoading
internal import Foundation

/// Loads images: fetches each image once for all callers, decodes it in another process, and caches it.
///
/// ```swift
/// let loader = ImageLoader()
/// let image = try await loader.image(for: ImageRequest(url, processors: [.resize(width: 200, height: 200)]))
/// ```
///
/// Each loader has its own memory cache, and a disk cache if its configuration has one. Loaders for the same server may
/// have different configurations.
public final class ImageLoader: Sendable {
    /// Loader options.
    public struct Configuration: Sendable {
        /// Limits for the memory cache of decoded images. If the cost limit is 0, the cache keeps no images. An image
        /// is then decoded again from the disk cache, if there is one.
        public var memory = ImageCacheLimits()
        /// The disk cache; `nil` for none, which is the default.
        public var disk: ImageDiskCache?
        /// The maximum number of concurrent fetches.
        public var maximumFetchCount = 6
        /// The maximum number of attempts for a fetch whose connection fails. Each attempt resumes where the previous
        /// attempt ended.
        public var attemptCount = 3
        /// Limits for each image.
        public var limits = ImageLimits()
        /// The decoder; `nil` for ``ImageDecoderProcesses`` with ``limits``.
        public var decoder: (any ImageDecoding)?
        /// Whether to empty the memory cache under memory pressure.
        public var observesMemoryPressure = true

        /// Creates the default options.
        public init() {}
    }

    /// The options.
    public let configuration: Configuration
    let fetch: ImageFetch
    let decoder: any ImageDecoding
    let images = SharedJobs<ImageJobKey, LoadedImage, ImageUpdate>()
    let contents = SharedJobs<ContentJobKey, FetchedContent, ContentUpdate>()
    let gate: PriorityGate
    let memory: LockedValue<RecencyCache<ImageKey, LoadedImage>>
    let partials: LockedValue<RecencyCache<String, PartialContent>>
    let prefetches = LockedValue<[ImageRequest: ImageTask]>([:])
    private let pressure = LockedValue<UInt64?>(nil)
    /// The time since the system started. Replaceable in tests.
    let now: @Sendable () -> Duration

    /// Creates a loader.
    ///
    /// - Parameters:
    ///   - session: Fetches the images. Its own cache is not used.
    ///   - configuration: The options.
    public convenience init(session: URLSession = .shared, configuration: Configuration = Configuration()) {
        self.init(configuration: configuration, fetch: SessionFetch.by(session))
    }

    init(
        configuration: Configuration, fetch: @escaping ImageFetch,
        now: @escaping @Sendable () -> Duration = { System.now }
    ) {
        self.configuration = configuration
        self.fetch = fetch
        self.now = now
        gate = PriorityGate(limit: configuration.maximumFetchCount)
        memory = LockedValue(RecencyCache(limits: configuration.memory))
        partials = LockedValue(RecencyCache(limits: ImageCacheLimits(cost: 16 * 1024 * 1024, count: 64)))
        var options = ImageDecoderProcesses.Options()
        options.limits = configuration.limits
        decoder = configuration.decoder ?? ImageDecoderProcesses(options: options)
        if configuration.observesMemoryPressure {
            let observer = MemoryPressure.shared.observe { [weak self] in self?.dropMemory() }
            pressure.withLock { $0 = observer }
        }
    }

    deinit { if let observer = pressure.withLock({ $0 }) { MemoryPressure.shared.remove(observer) } }

    /// Returns an image.
    ///
    /// - Parameters:
    ///   - request: The URL and the processors.
    ///   - update: Called with progress and previews, in order, on a library thread. It must not block.
    /// - Throws: ``/CausewayImageFormats/ImageError``; `URLError` if the fetch fails.
    ///
    /// Cancellation: throws `CancellationError` at once. The fetch continues if other callers wait for the same image;
    /// otherwise it is cancelled, and the received bytes are kept for the next attempt.
    public func image(
        for request: ImageRequest, update: @escaping @Sendable (ImageUpdate) -> Void = { _ in }
    ) async throws -> LoadedImage {
        try await image(for: request, priority: PriorityCell(request.priority), update: update)
    }

    func image(
        for request: ImageRequest, priority: PriorityCell, update: @escaping @Sendable (ImageUpdate) -> Void
    ) async throws -> LoadedImage {
        if let image = imageInMemory(for: request) { return image }
        let key = ImageJobKey(
            image: request.imageKey, policy: request.cachePolicy, wantsPreviews: request.wantsPreviews)
        return try await images.value(for: key, priority: priority, update: update) { [self] context in
            try await make(request, context)
        }
    }

    /// Returns an image from memory, if the request permits it. Does not block.
    public func imageInMemory(for request: ImageRequest) -> LoadedImage? {
        switch request.cachePolicy {
        case .validate, .reload: return nil
        case .standard, .cachedElseLoad, .onlyCached:
            var image = memory.withLock { $0.value(for: request.imageKey, now: now()) }
            image?.origin = .memory
            return image
        }
    }

    // MARK: Caches

    /// Empties the memory cache. With a disk cache, returns when all images that were being written are on disk.
    ///
    /// Under memory pressure, the loader also empties the memory cache, unless ``Configuration/observesMemoryPressure``
    /// is `false`.
    ///
    /// Cancellation: no effect.
    public func flushMemory() async {
        dropMemory()
        await configuration.disk?.flush()
    }

    /// Removes all this loader's images, from memory and from its disk cache.
    ///
    /// Cancellation: no effect.
    public func removeAllImages() async {
        dropMemory()
        await configuration.disk?.removeAll()
    }

    /// Removes the images in memory, partial downloads and idle decoder processes. The disk cache keeps its images,
    /// which were written when they arrived.
    private func dropMemory() {
        memory.withLock { $0.removeAll() }
        partials.withLock { $0.removeAll() }
        decoder.releaseMemory()
    }
}

/// Identifies an image job: the image with its processors, and the options for loading it.
struct ImageJobKey: Hashable, Sendable {
    var image: ImageKey
    var policy: ImageRequest.CachePolicy
    var wantsPreviews: Bool
}

/// Identifies a content job, which loads the bytes. Requests that differ only in their processors share a content job.
struct ContentJobKey: Hashable, Sendable {
    var content: String
    var policy: ImageRequest.CachePolicy
}

/// An image's bytes.
struct FetchedContent: Sendable {
    var bytes: [UInt8]
    var origin: ImageOrigin
}
