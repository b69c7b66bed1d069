import CausewayImageFormats
import CausewaySystem
import CausewayURLLoading
import Foundation
import Testing

@testable import CausewayImages

@Suite("Image loader")
struct LoaderTests {
    private static let request = ImageRequest(address("a"))

    @Test("I8: 1,000 equal requests make one fetch and decode one image")
    func coalesces() async throws {
        let latch = Latch()
        let server = ScriptedImages { _, _, sink in
            await latch.wait()
            _ = sink.head(ResponseHead())
            _ = sink.piece(Data(PlainDecoder.file()))
        }
        let decoder = PlainDecoder()
        let loader = server.loader(decoder: decoder)
        try await withThrowingTaskGroup(of: LoadedImage.self) { group in
            for _ in 0..<1_000 { group.addTask { try await loader.image(for: Self.request) } }
            await until { loader.images.callerCount == 1_000 }
            latch.open()
            for try await image in group { #expect(image.origin == .network && image.bitmap.width == 2) }
        }
        #expect(server.requests.count == 1 && decoder.count == 1)
    }

    @Test("I8: Requests with different processors share the fetch")
    func sharesContent() async throws {
        let latch = Latch()
        let server = ScriptedImages { _, _, sink in
            await latch.wait()
            _ = sink.head(ResponseHead())
            _ = sink.piece(Data(PlainDecoder.file(width: 8, height: 8)))
        }
        let loader = server.loader()
        let small = ImageRequest(address("a"), processors: [.resize(width: 4, height: 4)])
        async let one = loader.image(for: Self.request)
        async let two = loader.image(for: small)
        await until { loader.contents.callerCount == 2 }
        latch.open()
        #expect(try await (one.bitmap.width, two.bitmap.width) == (8, 4))
        #expect(server.requests.count == 1)
    }

    @Test("I8: A cancelled caller leaves at once; the fetch is cancelled with the last one")
    func cancellation() async throws {
        let ended = LockedValue(false)
        let server = ScriptedImages { _, _, _ in
            defer { ended.withLock { $0 = true } }
            try await Task.sleep(for: .seconds(3_600))
        }
        let loader = server.loader()
        let tasks = (0..<3).map { _ in Task { try await loader.image(for: Self.request) } }
        await until { loader.images.callerCount == 3 && server.requests.count == 1 }
        for (index, task) in tasks.enumerated() {
            #expect(!ended.withLock { $0 })
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(loader.images.callerCount == 2 - index)
        }
        await until { ended.withLock { $0 } }
        #expect(loader.contents.callerCount == 0 && server.requests.count == 1)
    }

    @Test("The number of fetches is limited, the most urgent is next, and the urgency can be raised later")
    func priorities() async throws {
        let latches = LockedValue<[String: Latch]>([:])
        let order = LockedValue<[String]>([])
        let server = ScriptedImages { request, _, sink in
            let name = request.url?.lastPathComponent ?? ""
            order.withLock { $0.append(name) }
            await latches.withLock { $0[name] }?.wait()
            _ = sink.head(ResponseHead())
            _ = sink.piece(Data(PlainDecoder.file()))
        }
        let loader = server.loader { $0.maximumFetchCount = 1 }
        let first = Latch()
        latches.withLock { $0["first"] = first }
        let queue = DispatchQueue(label: "test")
        func load(_ name: String, _ priority: ImagePriority) -> ImageTask {
            loader.load(ImageRequest(address(name), priority: priority), queue: queue) { _ in }
        }
        let tasks = [load("first", .low)]
        await until { order.withLock { $0.count } == 1 }
        let later = [load("low", .low), load("raised", .prefetch), load("high", .high), load("dropped", .high)]
        await until { loader.gate.waitingCount == 4 }
        later[1].priority = .immediate
        later[3].cancel()
        await until { loader.gate.waitingCount == 3 }
        first.open()
        for task in tasks + later.dropLast() { _ = try await task.value }
        await #expect(throws: CancellationError.self) { try await later[3].value }
        #expect(order.withLock { $0 } == ["first", "raised", "high", "low"])
    }

    @Test("A request joins a prefetch and raises its urgency; a prefetch can be cancelled")
    func prefetches() async throws {
        let latch = Latch()
        let server = ScriptedImages { _, _, sink in
            await latch.wait()
            _ = sink.head(ResponseHead())
            _ = sink.piece(Data(PlainDecoder.file()))
        }
        let loader = server.loader { $0.maximumFetchCount = 1 }
        let requests = ["a", "b", "c"].map { ImageRequest(address($0)) }
        loader.prefetch(requests)
        loader.prefetch(requests)
        await until { loader.gate.waitingCount == 2 && server.requests.count == 1 }
        let last = server.requests[0].url == requests[2].url ? requests[1] : requests[2]
        async let image = loader.image(for: last)
        await until { loader.images.callerCount == 4 }
        loader.cancelPrefetch(requests.filter { $0 != last })
        await until { loader.images.callerCount == 2 }
        latch.open()
        #expect(try await image.bitmap.width == 2)
        await until { loader.prefetches.withLock { $0.isEmpty } }
        #expect(loader.imageInMemory(for: last) != nil)
        #expect(server.requests.count <= 2)
    }

    @Test("Closures are called in order on their queue, the completion once and last")
    func closures() async throws {
        let server = ScriptedImages { _, _, sink in
            _ = sink.head(ResponseHead(fields: ["content-length": "106"]))
            for piece in PlainDecoder.file(padding: 100).chunks(of: 53) { _ = sink.piece(Data(piece)) }
        }
        let seen = LockedValue<[String]>([])
        let queue = DispatchQueue(label: "test")
        let task = server.loader().load(Self.request, queue: queue) { update in
            dispatchPrecondition(condition: .onQueue(queue))
            if case .progress(let received, let expected) = update {
                seen.withLock { $0.append("\(received)/\(expected ?? -1)") }
            }
        } completion: { result in
            seen.withLock { $0.append((try? result.get().origin.rawValue) ?? "failure") }
        }
        _ = try await task.value
        queue.sync {}
        #expect(seen.withLock { $0 } == ["53/106", "106/106", "network"])
    }

    @Test("A lost connection continues by a range, with the bytes that had arrived")
    func resumes() async throws {
        let file = PlainDecoder.file(padding: 94)
        let server = ScriptedImages { request, number, sink in
            let start = request.value(forHTTPHeaderField: "Range").flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
            var fields = ["etag": "\"x\"", "content-length": "\(100 - start)"]
            if start > 0 { fields["content-range"] = "bytes \(start)-99/100" }
            _ = sink.head(ResponseHead(status: start > 0 ? 206 : 200, fields: fields))
            _ = sink.piece(Data(file[start..<min(start + 40, 100)]))
            if number < 3 { throw URLError(.networkConnectionLost) }
        }
        let image = try await server.loader().image(for: Self.request)
        #expect(image.bitmap.width == 2)
        #expect(server.requests.map { $0.value(forHTTPHeaderField: "Range") } == [nil, "bytes=40-", "bytes=80-"])
        #expect(server.requests.map { $0.value(forHTTPHeaderField: "If-Range") } == [nil, "\"x\"", "\"x\""])
    }

    @Test("A server that sends less than the range is asked for the rest")
    func shortRange() async throws {
        let file = PlainDecoder.file(padding: 94)
        let server = ScriptedImages { request, number, sink in
            let start = request.value(forHTTPHeaderField: "Range").flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
            let end = start == 0 ? 40 : start + 30
            var fields = ["etag": "\"x\""]
            if start > 0 { fields["content-range"] = "bytes \(start)-\(end - 1)/100" }
            _ = sink.head(ResponseHead(status: start > 0 ? 206 : 200, fields: fields))
            _ = sink.piece(Data(file[start..<end]))
            if number == 1 { throw URLError(.networkConnectionLost) }
        }
        let image = try await server.loader().image(for: Self.request)
        #expect(image.bitmap.width == 2)
        #expect(server.requests.map { $0.value(forHTTPHeaderField: "Range") } == [nil, "bytes=40-", "bytes=70-"])
    }

    @Test("A range that does not fit is fetched again from the start", arguments: [416, 206, 200])
    func startsAgain(_ status: Int) async throws {
        let file = PlainDecoder.file(padding: 94)
        let server = ScriptedImages { request, number, sink in
            let isRange = request.value(forHTTPHeaderField: "Range") != nil
            let fields = ["etag": "\"x\"", "content-range": "bytes 7-99/100"]
            let isWanted = sink.head(ResponseHead(status: isRange ? status : 200, fields: fields))
            if isWanted { _ = sink.piece(Data(number == 1 ? file[..<40] : file[...])) }
            if number == 1 { throw URLError(.networkConnectionLost) }
        }
        #expect(try await server.loader().image(for: Self.request).bitmap.width == 2)
        #expect(server.requests.count == (status == 200 ? 2 : 3))
    }

    @Test("Without a validator a failure is not continued, and is thrown")
    func throwsFailure() async throws {
        let server = ScriptedImages { _, _, sink in
            _ = sink.head(ResponseHead())
            _ = sink.piece(Data([1, 2, 3]))
            throw URLError(.networkConnectionLost)
        }
        let loader = server.loader()
        await #expect(throws: URLError.self) { try await loader.image(for: Self.request) }
        #expect(server.requests.count == 1)
    }

    @Test("Errors of the server, too many bytes and malformed images are errors with a code")
    func failures() async throws {
        for (server, expected) in [
            (ScriptedImages([], status: 404), ImageError.Code.status),
            (ScriptedImages(PlainDecoder.file(padding: 2_000)), .tooLarge),
            (ScriptedImages(PlainDecoder.file(), ["content-length": "999999"]), .tooLarge),
            (ScriptedImages([1, 2, 3]), .malformed),
        ] {
            let loader = server.loader { $0.limits.maximumByteCount = 1_000 }
            #expect(await code { _ = try await loader.image(for: Self.request) } == expected)
        }
    }

    @Test(
        "Previews of a progressive JPEG image arrive while its bytes do",
        .enabled(if: ImageLibraries.canRun, ImageLibraries.need))
    func previews() async throws {
        let bytes = TestImages.progressive
        let step = Latch()
        let server = ScriptedImages { _, _, sink in
            _ = sink.head(ResponseHead())
            _ = sink.piece(Data(bytes.prefix(bytes.count * 2 / 3)))
            await step.wait()
            _ = sink.piece(Data(bytes.dropFirst(bytes.count * 2 / 3)))
        }
        let loader = server.loader(decoder: ImageDecoderProcesses())
        var request = Self.request
        request.wantsPreviews = true
        let seen = LockedValue<[LoadedImage]>([])
        let image = try await loader.image(for: request) { update in
            guard case .preview(let preview) = update else { return }
            seen.withLock { $0.append(preview) }
            step.open()
        }
        #expect(!image.isPreview && image.bitmap.width == 48)
        let previews = seen.withLock { $0 }
        #expect(!previews.isEmpty && previews.allSatisfy { $0.isPreview && $0.bitmap.width == 48 })
    }

    @Test("I2: A row that is reused shows only the last image that was wanted")
    func binding() async throws {
        let latches = ["a": Latch(), "b": Latch()]
        let server = ScriptedImages { request, _, sink in
            let name = request.url?.lastPathComponent ?? ""
            await latches[name]?.wait()
            try Task.checkCancellation()
            _ = sink.head(ResponseHead())
            _ = sink.piece(Data(PlainDecoder.file(width: name == "a" ? 1 : 2)))
        }
        let loader = server.loader()
        let widths = LockedValue<[Int]>([])
        let queue = DispatchQueue(label: "test")
        let binding = ImageBinding(loader: loader, queue: queue) { slot in
            if let picture = slot.picture { widths.withLock { $0.append(picture.bitmap.width) } }
        }
        binding.show(ImageRequest(address("a")))
        binding.show(ImageRequest(address("b")))
        binding.show(ImageRequest(address("b")))
        latches["b"]?.open()
        await until { widths.withLock { !$0.isEmpty } }
        latches["a"]?.open()
        // Requirement I1: an image that is in memory is shown before `show` returns.
        binding.show(nil)
        #expect(binding.slot.picture == nil)
        binding.show(ImageRequest(address("b")))
        #expect(binding.slot.picture?.bitmap.width == 2 && binding.slot.opacity(at: .zero) == 1)
        queue.sync {}
        #expect(widths.withLock { $0.allSatisfy { $0 == 2 } })
    }
}

extension Array {
    func chunks(of count: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: self.count, by: count).map { self[$0..<Swift.min($0 + count, self.count)] }
    }
}
