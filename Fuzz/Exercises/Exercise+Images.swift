internal import CausewayImageFormats

extension Exercise {
    /// Parses bytes as a reply of the image decoder, as a file of the image cache, and as a JPEG file. Also changes a
    /// bitmap that the bytes describe.
    public static func image(_ bytes: [UInt8]) {
        var choices = Choices(bytes)
        reply(&choices)
        bitmap(&choices)
        jobs(&choices)
        let place = choices.next()
        let rest = Array(choices.rest)
        damage(rest, at: Int(place))
        if let record = CacheRecord(rest) {
            guard let header = record.header else { preconditionFailure("a record that was read has no header") }
            precondition(CacheRecord(header + record.content) == record, "a record changes when it is written")
        }
        scans(rest, size: 1 + bytes.count % 7)
        _ = (Orientation(jpeg: rest), ImageFormat(firstBytes: rest))
    }

    /// A damaged file of the cache is not read.
    private static func damage(_ content: [UInt8], at place: Int) {
        let record = CacheRecord(
            key: "k", entityTag: content.first.map { "\($0)" }, lastModified: nil, stored: Int64(place), expires: nil,
            content: content)
        guard let header = record.header else { preconditionFailure("a short record has no header") }
        var file = header + content
        precondition(CacheRecord(file) == record, "a record is not read again")
        file[place % file.count] ^= 1
        precondition(CacheRecord(file) == nil, "damage is not found")
    }

    /// Checks each accepted reply: the byte count must fit the image size, and the image size must be within the
    /// limits.
    private static func reply(_ choices: inout Choices) {
        var limits = ImageLimits()
        limits.maximumPixelCount = choices.next(below: 2) == 0 ? 1_000 : .max
        limits.maximumDimension = choices.next(below: 2) == 0 ? 300 : .max
        let request = DecoderRequest(
            format: .png, contentByteCount: 10, wanted: nil, limits: limits)
        // Half of the replies have headers that are nearly correct.
        var head: [UInt8] = []
        let isNear = choices.next(below: 2) == 0
        let (width, height) = (choices.next(below: 400), choices.next(below: 400))
        let words = [0x3152_5743, 0, width, height, width, height, choices.next(below: 4), width * height * 4]
        for word in words {
            for part in 0..<4 {
                let byte = UInt8(truncatingIfNeeded: word >> (8 * part))
                head.append(isNear && choices.next(below: 40) != 0 ? byte : UInt8(choices.next(below: 256)))
            }
        }
        guard let reply = DecoderReply(head, to: request) else { return }
        switch reply.content {
        case .pixels(let size, _):
            precondition(size.width <= limits.maximumDimension && size.height <= limits.maximumDimension, "dimension")
            guard let count = Bitmap.byteCount(size.width, size.height) else { preconditionFailure("no size") }
            precondition(count / 4 <= limits.maximumPixelCount, "pixels")
        case .failure(_, let count): precondition(count < 512, "message")
        }
    }

    private static func bitmap(_ choices: inout Choices) {
        let (width, height) = (1 + choices.next(below: 9), 1 + choices.next(below: 9))
        let pixels = (0..<(width * height * 4)).map { _ in UInt8(choices.next(below: 256)) }
        guard var bitmap = Bitmap(width: width, height: height, pixels: pixels) else { return }
        let fits: [ImageProcessor.Fit] = [.inside, .filling, .stretched]
        for _ in 0..<choices.next(below: 4) {
            let (a, b) = (choices.next(below: 40) - 10, choices.next(below: 40) - 10)
            let processors: [ImageProcessor] = [
                .resize(width: a, height: b, fit: fits[choices.next(below: 3)], enlarges: choices.next(below: 2) == 0),
                .crop(x: a, y: b, width: choices.next(below: 20), height: choices.next(below: 20)),
                .rounded(radius: a), .circle, .blur(radius: a),
            ]
            bitmap = processors[choices.next(below: processors.count)](bitmap)
            precondition(bitmap.width <= 64 && bitmap.height <= 64, "an image grew")
        }
        for kind in TerminalImage.Kind.allCases { _ = TerminalImage.bytes(bitmap, as: kind, columns: 4) }
        if let orientation = Orientation(rawValue: 1 + choices.next(below: 8)) { _ = orientation.upright(bitmap) }
    }

    /// Checks a table of jobs: each caller must be resumed once, and no more jobs may run than permitted.
    private static func jobs(_ choices: inout Choices) {
        var table = JobTable<Int>()
        var line = AdmissionLine(limit: 2)
        var (waiting, jobs, running): (Set<UInt64>, Set<UInt64>, Set<UInt64>) = ([], [], [])
        for caller in 1...UInt64(1 + choices.next(below: 30)) {
            let priority = ImagePriority.allCases[choices.next(below: 5)]
            let place = table.join(choices.next(below: 3), as: caller, priority: priority)
            precondition(place.isNew == jobs.insert(place.job).inserted, "a job has two starts")
            waiting.insert(caller)
            if line.arrived(caller, priority) { running.insert(caller) }
            line.prioritize(caller, ImagePriority.allCases[choices.next(below: 5)])
            let other = 1 + UInt64(choices.next(below: Int(caller)))
            if choices.next(below: 2) == 0 {
                if case .abandoned(let job) = table.leave(other) { jobs.remove(job) }
                waiting.remove(other)
            } else if let job = jobs.min() {
                for caller in table.ended(job) { precondition(waiting.remove(caller) != nil, "resumed twice") }
                jobs.remove(job)
            }
            if let one = running.min(), choices.next(below: 2) == 0 {
                running.remove(one)
                if let next = line.ended() { precondition(running.insert(next).inserted, "admitted twice") }
            }
            precondition(running.count <= 2 && table.callerCount == waiting.count, "counts")
        }
    }

    private static func scans(_ bytes: [UInt8], size: Int) {
        var (whole, pieces) = (JPEGScans(), JPEGScans())
        whole.append(bytes)
        for start in stride(from: 0, to: bytes.count, by: size) {
            pieces.append(bytes[start..<min(start + size, bytes.count)])
        }
        precondition(whole.endedCount == pieces.endedCount && whole.lastEnd == pieces.lastEnd, "pieces differ")
        precondition(whole.lastEnd <= bytes.count, "an end beyond the file")
    }
}
