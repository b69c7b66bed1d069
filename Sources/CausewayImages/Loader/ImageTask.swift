public import CausewayImageFormats
internal import CausewaySystem
public import Dispatch
internal import Foundation

/// An image load that was started by ``ImageLoader/load(_:queue:update:completion:)``. It can be cancelled, and its
/// priority can be changed.
public final class ImageTask: Sendable {
    private let cell: PriorityCell
    private let task: LockedValue<Task<LoadedImage, any Error>?>

    init(priority: ImagePriority, _ body: @escaping @Sendable (PriorityCell) async throws -> LoadedImage) {
        let cell = PriorityCell(priority)
        self.cell = cell
        task = LockedValue(Task { try await body(cell) })
    }

    /// The priority. A change takes effect at once, even for a queued fetch.
    public var priority: ImagePriority {
        get { cell.value }
        set { cell.set(newValue) }
    }

    /// Cancels the load. The fetch continues if other callers wait for the same image.
    public func cancel() { task.withLock { $0 }?.cancel() }

    /// The image. Waits until the load is complete.
    ///
    /// Cancellation: no effect. The load continues, and so does the wait. To cancel the load, call ``cancel()``.
    public var value: LoadedImage {
        get async throws {
            guard let task = task.withLock({ $0 }) else { throw CancellationError() }
            return try await task.value
        }
    }
}

extension ImageLoader {
    /// Loads an image, and passes updates and the result to closures.
    ///
    /// - Parameters:
    ///   - request: The URL and the processors.
    ///   - queue: The queue for the closures, which must be serial. The closures are called in order. `completion` is
    ///     called exactly once, after all calls of `update`, with `CancellationError` after ``ImageTask/cancel()``.
    ///   - update: Called with progress and previews.
    ///   - completion: Called with the image or the error.
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

    /// Loads images that may be needed later. The loads have the lowest priority, and their images are stored in the
    /// caches. Failures are not reported.
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

    /// Cancels prefetches. Fetches with other waiting callers continue.
    public func cancelPrefetch(_ requests: [ImageRequest]) {
        for request in requests { prefetches.withLock { $0.removeValue(forKey: request) }?.cancel() }
    }
}
