import Foundation

/// Test images of 48 x 32 pixels. Their left half contains red, and their green value increases from top to bottom.
enum TestImages {
    /// A baseline JPEG image.
    static let jpeg = bytes(
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAUDBAQEAwUEBAQFBQUGBwwIBwcHBw8LCwkMEQ8SEhEPERETFhwXExQaFRERGCEYGh0d"
            + "Hx8fExciJCIeJBweHx7/2wBDAQUFBQcGBw4ICA4eFBEUHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4e"
            + "Hh4eHh4eHh7/wAARCAAgADADASIAAhEBAxEB/8QAFwABAQEBAAAAAAAAAAAAAAAABgAHCP/EABcQAAMBAAAAAAAAAAAAAAAAAAAV"
            + "YqH/xAAWAQEBAQAAAAAAAAAAAAAAAAAGBwj/xAAfEQABBAAHAAAAAAAAAAAAAAAABRUhYQczNFFTwcL/2gAMAwEAAhEDEQA/ACam"
            + "SUyPVMEpgGulmm3mwEpkwRTB1wpgwVTOCJAVMyduyM4uLOjnk8AFTBKYHymcJTOCN0sjLzZ1wpnCUzg+UwSmDOjpZc3mwCpnDBVM"
            + "HXCmDBVMiJAVMyduyM4uLOjnk8AFTBKYHymSUyI3SyMvNn//2Q==")

    /// A progressive JPEG image.
    static let progressive = bytes(
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAUDBAQEAwUEBAQFBQUGBwwIBwcHBw8LCwkMEQ8SEhEPERETFhwXExQaFRERGCEYGh0d"
            + "Hx8fExciJCIeJBweHx7/2wBDAQUFBQcGBw4ICA4eFBEUHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4e"
            + "Hh4eHh4eHh7/wgARCAAgADADASIAAhEBAxEB/8QAFwABAQEBAAAAAAAAAAAAAAAABQAGB//EABYBAQEBAAAAAAAAAAAAAAAAAAUG"
            + "B//aAAwDAQACEAMQAAABJnobTQcD1zBIxgE/IxnXJ+zq6AwXXMEjGAT8jGf/xAAVEAEBAAAAAAAAAAAAAAAAAAAAE//aAAgBAQAB"
            + "BQKSSSSSSSSSSSSSSSSSSSSSSST/xAAaEQACAgMAAAAAAAAAAAAAAAAAFAQGM4LB/9oACAEDAQE/AXC3TMO3BwcLdMw7cHD/xAAX"
            + "EQADAQAAAAAAAAAAAAAAAAAABBQy/9oACAECAQE/AahBrRUVCDWio//EABQQAQAAAAAAAAAAAAAAAAAAAED/2gAIAQEABj8CR//E"
            + "ABUQAQEAAAAAAAAAAAAAAAAAAABx/9oACAEBAAE/IZSlKUpSlKUpSlKUpSlKUv/aAAwDAQACAAMAAAAQNd/88+//xAAWEQEBAQAA"
            + "AAAAAAAAAAAAAAAAcVH/2gAIAQMBAT8QtqNrajb/xAAXEQADAQAAAAAAAAAAAAAAAAAAUXHB/9oACAECAQE/EKHFpRQ4tKP/xAAX"
            + "EAADAQAAAAAAAAAAAAAAAAAAEfAw/9oACAEBAAE/EMQFVYRCIRCIRCyVVA//2Q==")

    /// A WebP image without loss.
    static let webp = bytes(
        "UklGRkgAAABXRUJQVlA4TDsAAAAvL8AHAJkyRPQ/NhHR/4DSto2gwN7+SwfdhwQERf6PNkChtG0DpmVF8woOlkT7CaDZJoq55D/8"
            + "ybVkAAA=")

    /// A WebP image with loss of 8 x 8 half-transparent red pixels.
    static let transparentWebP = bytes(
        "UklGRmQAAABXRUJQVlA4WAoAAAAQAAAABwAABwAAQUxQSAoAAAABB1DAiAhERP8DVlA4IDQAAAAQAgCdASoIAAgAAMASJaACdLoB"
            + "+AH4AAPIAP75Ns//dPSEDR/zB//0fL+j5f0fL/6NoAAA")

    /// A frame of a WebP animation (RFC 9649 §2.7.1.1): the image data, its position and its size.
    struct Frame: Sendable {
        var image: [UInt8]
        var x = 0
        var y = 0
        var width = 48
        var height = 32
    }

    /// Makes a WebP animation.
    static func animation(width: Int, height: Int, _ frames: [Frame]) -> [UInt8] {
        var content = riff("VP8X", [0x12, 0, 0, 0] + little(width - 1, 3) + little(height - 1, 3))
        content += riff("ANIM", [0, 0, 0, 0, 0, 0])
        for frame in frames {
            let head = little(frame.x / 2, 3) + little(frame.y / 2, 3) + little(frame.width - 1, 3)
            content += riff("ANMF", head + little(frame.height - 1, 3) + little(100, 3) + [0] + frame.image)
        }
        return Array("RIFF".utf8) + little(content.count + 4, 4) + Array("WEBP".utf8) + content
    }

    private static func riff(_ name: String, _ content: [UInt8]) -> [UInt8] {
        Array(name.utf8) + little(content.count, 4) + content + (content.count % 2 == 0 ? [] : [0])
    }

    private static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static func bytes(_ text: String) -> [UInt8] { Array(Data(base64Encoded: text) ?? Data()) }

    /// Makes a PNG image of one colour, without compression.
    static func png(width: Int, height: Int, _ colour: [UInt8] = [10, 20, 30, 255]) -> [UInt8] {
        let row: [UInt8] = [0] + (0..<width).flatMap { _ in colour }
        let raw: [UInt8] = (0..<height).flatMap { _ in row }
        return png(width: width, height: height, raw: raw)
    }

    /// Makes a PNG image with the given size in its header. The content need not match that size.
    static func png(width: Int, height: Int, raw: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        for start in stride(from: 0, to: max(raw.count, 1), by: 65_535) {
            let part = raw[start..<min(start + 65_535, raw.count)]
            let count = UInt16(part.count)
            stream.append(start + 65_535 >= raw.count ? 1 : 0)
            stream += [UInt8(count & 255), UInt8(count >> 8), UInt8(~count & 255), UInt8(~count >> 8)] + part
        }
        stream += big(adler(raw))
        let head = big(UInt32(width)) + big(UInt32(height)) + [8, 6, 0, 0, 0]
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", head) + chunk("IDAT", stream)
            + chunk("IEND", [])
    }

    private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let body = Array(name.utf8) + content
        return big(UInt32(content.count)) + body + big(crc(body))
    }

    private static func big(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }

    private static func adler(_ bytes: [UInt8]) -> UInt32 {
        var (low, high): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            low = (low + UInt32(byte)) % 65_521
            high = (high + low) % 65_521
        }
        return high << 16 | low
    }

    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        var value = UInt32.max
        for byte in bytes {
            value ^= UInt32(byte)
            for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
        }
        return ~value
    }
}
