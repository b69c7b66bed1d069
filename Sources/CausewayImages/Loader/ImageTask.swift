public import CausewayImageFormats
internal import CausewaySystem
public import Dispatch
internal import Foundation

/// An image that is being loaded for a caller with closures.
public final class ImageTask: Sendable {
    private let cell: PriorityCell
    private let task: LockedValue<Task<LoadedImage, any Error>?>

    init(priority: ImagePriority, _ body: @escaping @Sendable (PriorityCell) async throws -> LoadedImage) {
        let cell = PriorityCell(priority)
        self.cell = cell
        task = LockedValue(Task { try await body(cell) })
    }

    /// How urgent the image is. A change takes effect at once, also for a fetch that waits for its turn.
    public var priority: ImagePriority {
        get { cell.value }
        set { cell.set(newValue) }
    }

    /// Cancels. The fetch goes on if others wait for the same image.
    public func cancel() { task.withLock { $0 }?.cancel() }

    /// The image.
    ///
    /// Cancellation: without effect on the task.
    public var value: LoadedImage {
        get async throws {
            guard let task = task.withLock({ $0 }) else { throw CancellationError() }
            return try await task.value
        }
    }
}

extension ImageLoader {
    /// Loads an image for a caller with closures.
    ///
    /// - Parameters:
    ///   - request: The address and the processors.
    ///   - queue: The queue of the closures, which must be serial. They are called in order; the completion is the last one, and is called exactly
    ///     once, with `CancellationError` after ``ImageTask/cancel()``.
    ///   - update: Called with progress and previews.
    ///   - completion: Called with the image, or the reason why there is none.
    @discardableResult
    public func load(
        _ request: ImageRequest, queue: DispatchQueue = .main,
        update: @escaping @Sendable (ImageUpdate) -> Void = { _ in },
        completion: @escaping @Sendable (Result<LoadedImage, any Error>) -> Void
    ) -> ImageTask {
        ImageTask(priority: request.priority) { [self] priority in
            let result: Result<LoadedImage, any Error>
            do {
                result = .success(
                    try await image(for: request, priority: priority) { news in queue.async { update(news) } })
            } catch {
                result = .failure(error)
            }
            queue.async { completion(result) }
            return try result.get()
        }
    }

    /// Loads images that may be needed later into the caches, with the lowest priority. Failures are not reported.
    ///
    /// A later request for the same image joins the fetch and raises its priority.
    public func prefetch(_ requests: [ImageRequest]) {
        for request in requests {
            prefetches.withLock { prefetches in
                guard prefetches[request] == nil else { return }
                prefetches[request] = ImageTask(priority: .prefetch) { [weak self] priority in
                    defer { _ = self?.prefetches.withLock { $0.removeValue(forKey: request) } }
                    guard let self else { throw CancellationError() }
                    return try await self.image(for: request, priority: priority) { _ in }
                }
            }
        }
    }

    /// Cancels prefetches. Fetches that others wait for go on.
    public func cancelPrefetch(_ requests: [ImageRequest]) {
        for request in requests { prefetches.withLock { $0.removeValue(forKey: request) }?.cancel() }
    }
}
