internal import CausewayImageFormats
internal import CausewaySystem
internal import Foundation

extension ImageLoader {
    typealias ImageContext = SharedJobs<ImageJobKey, LoadedImage, ImageUpdate>.Context

    /// Loads an image's bytes from the disk or the server, and decodes them.
    func make(_ request: ImageRequest, _ context: ImageContext) async throws -> LoadedImage {
        // Keep only the newest preview. Older previews are not worth decoding.
        let (previews, feed) = AsyncStream<[UInt8]>.makeStream(bufferingPolicy: .bufferingNewest(1))
        defer { feed.finish() }
        // If this function throws, Swift cancels the child task that decodes the previews.
        async let shown: Void = show(previews, request, context)
        let key = ContentJobKey(content: request.contentKey, policy: request.cachePolicy)
        let content = try await contents.value(for: key, priority: context.priority) { update in
            switch update {
            case .progress(let received, let expected):
                context.report(.progress(received: received, expected: expected))
            case .preview(let bytes): if request.wantsPreviews { feed.yield(bytes) }
            }
        } _: { [self] context in
            try await load(request, context)
        }
        feed.finish()
        let image = try await decodeWhole(content, request, context)
        memory.withLock { memory in
            _ = memory.store(image, for: request.imageKey, cost: image.bitmap.byteCount, stored: now())
        }
        await shown
        return image
    }

    private func decodeWhole(
        _ content: FetchedContent, _ request: ImageRequest, _ context: ImageContext
    ) async throws -> LoadedImage {
        do {
            return try await decode(content.bytes, content.origin, request, context.priority.value, isPreview: false)
        } catch let error as ImageError {
            // Remove the bytes from the disk cache if they cannot be decoded. Otherwise each later load would decode
            // them again and fail.
            if error.code == .malformed || error.code == .unsupported {
                await configuration.disk?.remove(request.contentKey)
            }
            throw error
        }
    }

    /// Decodes and reports previews while the rest of the image arrives. Omits previews that cannot be decoded.
    private func show(
        _ previews: AsyncStream<[UInt8]>, _ request: ImageRequest, _ context: ImageContext
    ) async {
        for await bytes in previews {
            let image = try? await decode(bytes, .network, request, context.priority.value, isPreview: true)
            if let image, !Task.isCancelled { context.report(.preview(image)) }
        }
    }

    private func decode(
        _ bytes: [UInt8], _ origin: ImageOrigin, _ request: ImageRequest, _ priority: ImagePriority, isPreview: Bool
    ) async throws -> LoadedImage {
        var hints = ImageDecodingHints()
        hints.wanted = request.processors.wanted
        hints.isPreview = isPreview
        hints.priority = priority
        let decoded = try await decoder.decode(bytes, hints)
        // Do not keep an incomplete image in the disk cache, because another attempt may load the complete image.
        if decoded.isIncomplete, !isPreview { await configuration.disk?.remove(request.contentKey) }
        var bitmap = decoded.bitmap
        for processor in request.processors {
            try Task.checkCancellation()
            bitmap = processor(bitmap)
        }
        return LoadedImage(
            url: request.url, bitmap: bitmap, format: decoded.format, fullSize: decoded.fullSize, origin: origin,
            isPreview: isPreview)
    }
}
