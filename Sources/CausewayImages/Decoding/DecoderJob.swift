internal import CausewayImageFormats
internal import CausewaySystem

/// One image to decode in the decoder process.
struct DecoderJob: Sendable {
    private let bytes: [UInt8]
    private let request: DecoderRequest
    private let head: [UInt8]
    private let orientation: Orientation

    /// Checks an image before it is sent to a process.
    ///
    /// - Throws: ``ImageError`` if it is too large or has no decoder.
    init(_ bytes: [UInt8], _ hints: ImageDecodingHints, _ limits: ImageLimits) throws(ImageError) {
        guard bytes.count <= min(limits.maximumByteCount, Self.maximumByteCount) else {
            throw ImageError(.tooLarge, "the file has \(bytes.count) bytes; the limit is \(limits.maximumByteCount)")
        }
        guard let format = ImageFormat(firstBytes: bytes) else {
            throw ImageError(.unsupported, "the content is no image of a known format")
        }
        orientation = format == .jpeg ? Orientation(jpeg: bytes) : .up
        var wanted = hints.wanted
        if orientation.swapsSides, let size = wanted { wanted = PixelSize(width: size.height, height: size.width) }
        request = DecoderRequest(
            format: format, contentByteCount: bytes.count, wanted: wanted, limits: limits)
        guard let head = request.bytes else {
            throw ImageError(.unsupported, "there is no decoder for \(format.rawValue)")
        }
        self.head = head
        self.bytes = bytes
    }

    /// The decoder's file size limit in bytes.
    private static let maximumByteCount = 512 << 20

    /// Sends the image to a process and receives its pixels. Blocks at most until the deadline.
    func exchange(with process: WorkerProcess) -> Result<DecodedImage, ImageError> {
        let deadline = System.now + request.limits.decodingTime
        do throws(SystemError) {
            try process.send(head, until: deadline)
            try process.send(bytes, until: deadline)
            let answer = try process.receive(DecoderReply.byteCount, until: deadline)
            guard let reply = DecoderReply(answer, to: request) else {
                return .failure(ImageError(.decoderCrashed, "the image decoder answered nonsense"))
            }
            return try finish(reply, process, deadline)
        } catch {
            guard error.errno != Errno.timedOut else {
                let limit = request.limits.decodingTime
                return .failure(ImageError(.decoderTimedOut, "decoding the image took longer than \(limit)"))
            }
            return .failure(ImageError(.decoderCrashed, "the image decoder ended while it decoded the image"))
        }
    }

    private func finish(
        _ reply: DecoderReply, _ process: WorkerProcess, _ deadline: Duration
    ) throws(SystemError) -> Result<DecodedImage, ImageError> {
        switch reply.content {
        case .failure(let code, let count):
            let text = try process.receive(count, until: deadline)
            return .failure(ImageError(code, "\(request.format.rawValue): \(String(decoding: text, as: UTF8.self))"))
        case .pixels(let size, let isOpaque):
            let pixels = try process.receive(size.width * size.height * 4, until: deadline)
            let bitmap = Bitmap(width: size.width, height: size.height, pixels: pixels, isOpaque: isOpaque)
            var full = reply.fullSize
            if orientation.swapsSides { full = PixelSize(width: full.height, height: full.width) }
            return .success(
                DecodedImage(
                    bitmap: orientation.upright(bitmap), format: request.format, fullSize: full,
                    isIncomplete: reply.isIncomplete))
        }
    }

    /// Returns whether the process can decode another image. This is possible if the decoder's reply was read
    /// completely.
    func isReusable(after result: Result<DecodedImage, ImageError>) -> Bool {
        switch result {
        case .success: true
        case .failure(let error):
            error.code != .decoderCrashed && error.code != .decoderTimedOut && error.code != .decoderMissing
        }
    }
}
