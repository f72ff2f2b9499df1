// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {FeeCollector, Order} from "../../../genesis/contracts/FeeCollector.sol";
import {Assertions, cheats} from "./Cheats.sol";

/// A FeeCollector with one signer, for one source.
abstract contract Fixture is Assertions {
    uint256 internal constant SIGNER_KEY = 0x51674e12;
    bytes32 internal constant SOURCE = "payments";
    address internal constant OWNER = address(0x04e2);
    address internal constant TREASURY = address(0x72ea);
    address internal constant MERCHANT = address(0x3e2c);
    address internal constant PAYER = address(0xa7e2);
    uint256 internal constant NOW = 1_800_000_000;

    FeeCollector internal collector;
    address internal sink;

    function setUp() public virtual {
        cheats.warp(NOW);
        sink = _deploy(hex"60015ff3");
        collector = new FeeCollector(OWNER, TREASURY, sink);
        cheats.prank(OWNER);
        collector.setSigner(SOURCE, cheats.addr(SIGNER_KEY), true);
    }

    function invoice(uint256 ref, uint256 amount, uint256 fee) internal view returns (Order memory) {
        return Order(bytes32(ref), SOURCE, MERCHANT, amount, fee, uint64(block.timestamp + 30 minutes));
    }

    /// All of it is the platform's, as of an API key.
    function purchase(uint256 ref, uint256 amount) internal view returns (Order memory) {
        return Order(bytes32(ref), SOURCE, address(0), amount, amount, uint64(block.timestamp + 30 minutes));
    }

    function signed(Order memory order) internal returns (bytes memory) {
        return signedBy(SIGNER_KEY, order);
    }

    function signedBy(uint256 key, Order memory order) internal returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = cheats.sign(key, collector.idOf(order));
        return abi.encodePacked(r, s, v);
    }

    function boxOf(Order memory order) internal view returns (address) {
        return collector.boxOf(collector.idOf(order));
    }

    function pay(Order memory order) internal {
        payWith(order, signed(order), order.amount);
    }

    function payWith(Order memory order, bytes memory signature, uint256 value) internal {
        cheats.deal(PAYER, value);
        cheats.prank(PAYER);
        collector.pay{value: value}(order, signature);
    }

    /// `pay` of this order reverts with exactly these data.
    function refused(Order memory order, bytes memory signature, uint256 value, bytes memory data) internal {
        cheats.deal(PAYER, value);
        cheats.expectRevert(data);
        cheats.prank(PAYER);
        collector.pay{value: value}(order, signature);
    }

    function _deploy(bytes memory initCode) internal returns (address made) {
        assembly {
            made := create2(0, add(initCode, 32), mload(initCode), 0)
        }
    }
}
