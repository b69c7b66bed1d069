import CausewaySystem
import CausewayTestKit
import CausewayURLLoading
import Foundation
import Testing

extension Loopback {
    @Suite("§21: background sessions")
    struct BackgroundSessionTests {
        /// The error that a test throws for an unexpected outcome.
        private struct Unexpected: Error {}

        @Test("A broken download is tried again, and continues")
        func retry() async throws {
            let (place, events) = (TransferPlace(), BackgroundEvents())
            let server = try place.server(parts: 1, holdingUntil: nil)
            let session = place.session(events)
            place.mayEnd.open()
            session.downloadTask(with: try #require(URL(string: server.uri()))).resume()
            await events.ended.wait()
            #expect(events.all == ["file 1", "end 1 0"] && events.data == place.text)
            #expect(place.sent.withLock { $0 } == place.text.count)
            #expect(place.requests.all.map { $0["if-range"] } == [nil, "\"v\""])
            session.invalidateAndCancel()
        }

        /// Starts a download and waits until a part of it has arrived. Then makes the session leave its transfers, as
        /// if the process had ended.
        private func interrupted(_ place: TransferPlace, _ server: ScriptedServer) async throws {
            let events = BackgroundEvents()
            let session = place.session(events)
            let task = session.downloadTask(with: try #require(URL(string: server.uri())))
            task.taskDescription = "kept"
            task.resume()
            try await place.stored(20_000)
            session.leaveTransfers()
            await events.invalid.wait()
        }

        /// Interrupts a download and tests its continuation. The server sends `parts` parts and then waits.
        private func afterInterruption(
            parts: Int, _ body: (TransferPlace, ScriptedServer, BackgroundEvents) async throws -> Void
        ) async throws {
            let (place, isOver) = (TransferPlace(), Gate())
            defer {
                isOver.open()
                place.mayEnd.open()
            }
            let server = try place.server(parts: parts, holdingUntil: isOver)
            try await interrupted(place, server)
            try await body(place, server, BackgroundEvents())
        }

        @Test("A download survives its process, and continues in the next one")
        func survival() async throws {
            try await afterInterruption(parts: 1) { place, server, events in
                let session = place.session(events)
                let task = try #require(await session.allTasks.first)
                #expect(task is URLSessionDownloadTask && task.taskIdentifier == 1 && task.taskDescription == "kept")
                place.mayEnd.open()
                await events.ended.wait()
                #expect(events.all == ["file 1", "end 1 0"] && events.data == place.text)
                #expect(place.sent.withLock { $0 } == place.text.count)
                #expect(session.downloadTask(with: try #require(URL(string: server.uri()))).taskIdentifier == 2)
                session.invalidateAndCancel()
            }
        }

        @Test("nw transfers completes a download while the program is away; the program gets the events")
        func handOver() async throws {
            try await afterInterruption(parts: 1) { place, server, events in
                place.mayEnd.open()
                let transfers = BackgroundTransfers(root: place.root)
                let stored = try #require(transfers.sessions().first)
                #expect(stored.items.map(\.state) == ["waiting"] && stored.items.first?.size == 20_000)
                guard case .completed(finished: 1, left: 0) = await transfers.run(stored) else {
                    throw Unexpected()
                }
                #expect(place.requests.all.count == 2 && transfers.sessions().first?.items.map(\.state) == ["finished"])
                server.stop()
                let session = place.session(events)
                await events.finished.wait()
                #expect(events.all == ["file 1", "end 1 0", "events"] && events.data == place.text)
                #expect(transfers.sessions().isEmpty)
                session.invalidateAndCancel()
            }
        }

        @Test("nw transfers gives a download back when the program returns")
        func handBack() async throws {
            try await afterInterruption(parts: 2) { place, _, events in
                let transfers = BackgroundTransfers(root: place.root)
                let stored = try #require(transfers.sessions().first)
                async let outcome = transfers.run(stored)
                try await place.stored(40_000)
                let session = place.session(events)
                #expect(await session.allTasks.count == 1)
                place.mayEnd.open()
                guard case .handedOver = await outcome else { throw Unexpected() }
                await events.ended.wait()
                #expect(events.data == place.text && place.sent.withLock { $0 } == place.text.count)
                session.invalidateAndCancel()
            }
        }

        @Test(
            "A session that is invalidated while nw transfers has its tasks cancels or completes them",
            arguments: [true, false])
        func invalidatedMeanwhile(_ isCancelled: Bool) async throws {
            try await afterInterruption(parts: 2) { place, _, events in
                let transfers = BackgroundTransfers(root: place.root)
                let stored = try #require(transfers.sessions().first)
                async let outcome = transfers.run(stored)
                try await place.stored(40_000)
                let session = place.session(events)
                if !isCancelled { place.mayEnd.open() }
                if isCancelled { session.invalidateAndCancel() } else { session.finishTasksAndInvalidate() }
                guard case .handedOver = await outcome else { throw Unexpected() }
                await events.invalid.wait()
                #expect(events.all == (isCancelled ? ["end 1 -999"] : ["file 1", "end 1 0"]))
                #expect(transfers.sessions().isEmpty && events.data == (isCancelled ? Data() : place.text))
            }
        }

        @Test("The delegate answers challenges; redirects are followed without it")
        func decisions() async throws {
            let (place, events) = (TransferPlace(), BackgroundEvents())
            let server = try ScriptedServer { peer in
                try await peer.serve { request in
                    guard request.target == "/end" else { return reply("302 Found", ["Location: /end"]) }
                    guard request["authorization"] != nil else {
                        return reply("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"r\""])
                    }
                    return reply("200 OK", [], "x")
                }
            }
            let session = place.session(events)
            session.downloadTask(with: try #require(URL(string: server.uri()))).resume()
            await events.ended.wait()
            #expect(events.all == ["challenge 0", "file 1", "end 1 0"])
            #expect(events.data == Data("x".utf8))
            session.invalidateAndCancel()
        }

        @Test("nw transfers leaves a challenge to the program")
        func challenge() async throws {
            let (place, events) = (TransferPlace(), BackgroundEvents())
            let isProtected = LockedValue(true)
            let server = try ScriptedServer { peer in
                guard try await peer.readRequest() != nil else { return }
                let head =
                    isProtected.withLock { $0 } ? "401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"r\"" : "200 OK"
                try await peer.write("HTTP/1.1 \(head)\r\nContent-Length: 1\r\n\r\nx")
            }
            let first = BackgroundEvents()
            let session = place.session(first)
            let task = session.downloadTask(with: try #require(URL(string: server.uri())))
            task.earliestBeginDate = Date(timeIntervalSinceNow: 1e6)
            task.resume()
            task.earliestBeginDate = nil
            session.leaveTransfers()
            await first.invalid.wait()
            let transfers = BackgroundTransfers(root: place.root)
            guard case .completed(finished: 0, left: 1) = await transfers.run(try #require(transfers.sessions().first))
            else { throw Unexpected() }
            isProtected.withLock { $0 = false }
            let other = place.session(events)
            await events.ended.wait()
            #expect(events.data == Data("x".utf8) && events.all == ["file 1", "end 1 0"])
            other.invalidateAndCancel()
        }

        @Test("A broken upload is tried again; its response is delivered")
        func upload() async throws {
            let (place, events) = (TransferPlace(), BackgroundEvents())
            let received = LockedValue<[String]>([])
            let server = try ScriptedServer { peer in
                guard let request = try await peer.readRequest() else { return }
                let count = received.withLock { received in
                    received.append(request.body)
                    return received.count
                }
                if count > 1 { try await peer.write("HTTP/1.1 201 Created\r\nContent-Length: 4\r\n\r\ndone") }
            }
            try FileManager.default.createDirectory(atPath: place.root, withIntermediateDirectories: true)
            let file = URL(fileURLWithPath: place.root + "/file")
            try Data("content".utf8).write(to: file)
            var request = URLRequest(url: try #require(URL(string: server.uri())))
            request.httpMethod = "POST"
            let session = place.session(events)
            session.uploadTask(with: request, fromFile: file).resume()
            await events.ended.wait()
            #expect(events.all == ["end 1 0"] && events.data == Data("done".utf8))
            #expect(received.withLock { $0 } == ["content", "content"])
            session.invalidateAndCancel()
            await events.invalid.wait()
            #expect(BackgroundTransfers(root: place.root).sessions().isEmpty)
        }
    }
}
