import CausewayExercises
import CausewayTestKit
import CausewayWire
import Testing

@testable import CausewayHTTPProtocols

@Suite("Exercises of the cache")
struct CacheExerciseTests {
    @Test("Files with random damage", arguments: 0..<20)
    func files(seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        var fields = FieldSection()
        fields.append("Cache-Control", "max-age=60")
        fields.append("Vary", "X")
        let stored = StoredResponse(
            status: 200, fields: fields, request: fields, requestTime: 1_790_000_000, responseTime: 1_790_000_000)
        let record = CacheRecord(
            key: "GET http://a.example/", url: "http://a.example/", version: "", traits: [], stored: stored,
            attachment: [], content: CacheRecord.Content(count: 0, checksum: CacheChecksum.of([])))
        let file = try #require(record.serialized())
        #expect(Exercise.cacheFile(file))
        #expect(Exercise.cacheFile(Array(file.dropFirst(20))))
        for _ in 0..<200 {
            var damaged = Array(file.dropFirst(20))
            for _ in 0...random.integer(in: 0...2) {
                damaged[random.integer(in: 0...(damaged.count - 1))] = UInt8(random.integer(in: 0...255))
            }
            Exercise.cacheFile(damaged)
        }
    }

    @Test("Exchanges with random fields", arguments: 0..<20)
    func exchanges(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        let words = [
            "Cache-Control: ", "max-age=60", "no-cache", "no-cache=\"a\"", ", ", "\n", "\n", "ETag: \"a\"", "Vary: ",
            "Range: bytes=0-5", "Content-Range: bytes 0-5/9", "Content-Range: bytes 3-99/200", "only-if-cached",
            "stale-while-revalidate=", "9", "Age: ", "Expires: 0", "*", "immutable", "Location: //b.example/",
        ]
        var count = 0
        for _ in 0..<100 {
            var bytes: [UInt8] = [UInt8(random.integer(in: 0...9)), UInt8(random.integer(in: 0...255))]
            for _ in 0..<random.integer(in: 0...14) {
                bytes += Array(words[random.integer(in: 0...(words.count - 1))].utf8)
            }
            if Exercise.cacheExchange(bytes) { count += 1 }
        }
        #expect(count > 0)
    }
}
