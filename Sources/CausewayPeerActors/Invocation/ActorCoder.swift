internal import Distributed
internal import Foundation

/// Encodes arguments, results and errors as JSON.
///
/// JSON is safer than a binary property list, which can refer to one object many times. Such a list could cost the
/// receiver much more memory than the sender. Foundation also limits the nesting depth of JSON.
struct ActorCoder {
    let system: PeerActorSystem

    func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.userInfo[.actorSystemKey] = system
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return [UInt8](try encoder.encode(value))
    }

    func decode<Value: Decodable>(_ type: Value.Type = Value.self, _ bytes: [UInt8]) throws -> Value {
        let decoder = JSONDecoder()
        decoder.userInfo[.actorSystemKey] = system
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return try decoder.decode(type, from: Data(bytes))
    }
}
