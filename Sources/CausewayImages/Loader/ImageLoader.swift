public import CausewayImageFormats
internal import CausewaySystem
public import CausewayURLLoading
internal import Foundation

/// Loads images: fetches each once for all that want it, decodes it in another process, and keeps it.
///
/// ```swift
/// let loader = ImageLoader()
/// let image = try await loader.image(for: ImageRequest(url, processors: [.resize(width: 200, height: 200)]))
/// ```
///
/// Each loader has its memory cache, and a disk cache if its configuration names one. Two loaders for one server may differ.
public final class ImageLoader: Sendable {
    /// The choices of a loader.
    public struct Configuration: Sendable {
        /// Bounds of the memory cache, which has decoded images. A cost of 0 keeps none: with a disk cache, all images are on disk.
        public var memory = ImageCacheLimits()
        /// The disk cache; `nil` for none, which is the default.
        public var disk: ImageDiskCache?
        /// The number of fetches at the same time.
        public var maximumFetchCount = 6
        /// The number of attempts of a fetch that a failure of the connection ends. Each one continues where the last one ended.
        public var attemptCount = 3
        /// Bounds of each image.
        public var limits = ImageLimits()
        /// The decoder; `nil` for ``ImageDecoderProcesses`` with ``limits``.
        public var decoder: (any ImageDecoding)?
        /// Whether the memory cache is emptied when the computer is short of memory.
        public var observesMemoryPressure = true

        /// Makes the standard choices.
        public init() {}
    }

    /// The choices.
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
    /// The time since the start of the computer. Tests replace it.
    let now: @Sendable () -> Duration

    /// Makes a loader.
    ///
    /// - Parameters:
    ///   - session: Fetches the images. Its own cache is not used.
    ///   - configuration: The choices.
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
    ///   - request: The address and the processors.
    ///   - update: Called with progress and previews, in order, on a thread of the library. It must not block.
    /// - Throws: ``/CausewayImageFormats/ImageError``; `URLError` if the fetch fails.
    ///
    /// Cancellation: throws `CancellationError` at once. The fetch goes on if others wait for the same image; else it is cancelled, and what
    /// has arrived is kept for the next attempt.
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

    /// Returns an image that is in memory, if the request permits it. Does not block.
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

    /// Empties the memory cache. With a disk cache, returns when all images are on disk.
    ///
    /// The loader does this when the computer is short of memory.
    ///
    /// Cancellation: without effect.
    public func flushMemory() async {
        dropMemory()
        await configuration.disk?.flush()
    }

    /// Removes all images of this loader, from memory and from its disk cache.
    ///
    /// Cancellation: without effect.
    public func removeAllImages() async {
        dropMemory()
        await configuration.disk?.removeAll()
    }

    /// Every image is on its way to the disk since it arrived, so that memory can be dropped at any moment.
    private func dropMemory() {
        memory.withLock { $0.removeAll() }
        partials.withLock { $0.removeAll() }
        decoder.releaseMemory()
    }
}

/// Identifies the making of an image: its processors and how it is loaded.
struct ImageJobKey: Hashable, Sendable {
    var image: ImageKey
    var policy: ImageRequest.CachePolicy
    var wantsPreviews: Bool
}

/// Identifies the loading of bytes. Requests with different processors share it.
struct ContentJobKey: Hashable, Sendable {
    var content: String
    var policy: ImageRequest.CachePolicy
}

/// The bytes of an image.
struct FetchedContent: Sendable {
    var bytes: [UInt8]
    var origin: ImageOrigin
}
